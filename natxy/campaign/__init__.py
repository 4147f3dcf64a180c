"""The journal of a series of trials, and the provenance of its results."""
