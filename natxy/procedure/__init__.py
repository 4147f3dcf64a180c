"""One file a measurement."""
