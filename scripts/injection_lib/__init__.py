"""What `injection_report` is made of: the texts, the counting, and the run through a real index."""
