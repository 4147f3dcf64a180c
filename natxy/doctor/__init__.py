"""Examines what on a machine disturbs a measurement, with its effect and the remedy."""
