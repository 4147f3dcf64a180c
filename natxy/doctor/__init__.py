"""What on a machine spoils a measurement, what it costs, and what to do about it."""
