"""Writes raw records of every frame from the engine's pipe to a Parquet file."""
