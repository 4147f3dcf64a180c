"""Makes tables and files from stored results."""
