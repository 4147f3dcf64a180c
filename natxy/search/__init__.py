"""Searches, which decide the rate of the next trial. They are pure: no input or output."""
