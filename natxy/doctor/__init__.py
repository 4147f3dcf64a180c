"""Examines what disturbs a measurement on a machine, with its effect and the remedy."""
