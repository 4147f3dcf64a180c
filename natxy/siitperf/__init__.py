"""siitperf's configuration and command lines, for the people who come from it."""
