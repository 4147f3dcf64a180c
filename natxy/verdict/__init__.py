"""Decides what a trial shows: whether its loss is the gateway's, and how exact its delays are."""
