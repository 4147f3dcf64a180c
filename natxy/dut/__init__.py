"""Drivers of devices under test, one a file."""
