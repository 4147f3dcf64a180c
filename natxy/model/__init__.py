"""Plain values: testbed, trial spec and result, stored results. Read and checked once, here."""
