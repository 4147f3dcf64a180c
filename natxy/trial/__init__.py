"""One trial: its load, phases, connections and verdict, and the times and seeds around it."""
