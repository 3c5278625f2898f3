"""What `scripts/gate_report` is made of: the sets, asking them through the real flow, fitting, and the tables."""
