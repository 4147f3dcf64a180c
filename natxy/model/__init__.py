"""Plain values, read and checked once: testbed, trial spec and result, stored results."""
