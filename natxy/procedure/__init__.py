"""The measurements, one per file."""
