"""Which rate next: pure, no input or output."""
