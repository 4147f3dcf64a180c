"""What is kept of a series of trials."""
