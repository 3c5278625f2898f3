"""What `check_files` is made of: expectations and how they are judged, runs of the product, the table."""
