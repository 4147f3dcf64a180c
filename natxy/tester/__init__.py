"""Starts the engine and runs trials on it."""
