"""A guest's tap interfaces need root."""

from tests.root import needs_root as needs_root
