"""Starts the engine and talks to it."""
