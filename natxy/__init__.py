"""Benchmarks IPv4/IPv6 gateways: what to measure, when to stop, what it means."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("natxy")
except PackageNotFoundError:  # used from a source tree that was never installed
    __version__ = "0+unknown"
