"""Runs siitperf's command lines and configurations with Natxy's tester."""
