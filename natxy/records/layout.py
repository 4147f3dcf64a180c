"""A frame's record as the engine writes it (docs/reference/engine-protocol.md)."""

import numpy as np

OCTETS = 32
RECORD = np.dtype(
    [
        ("number", "<u8"),
        ("departure_ns", "<f8"),  # since the phase's start
        ("delay_ns", "<f8"),
        ("phase", "u1"),
        ("direction", "u1"),
        ("kind", "u1"),
        ("status", "u1"),
        ("nonce", "<u4"),
    ]
)
DIRECTIONS = ("forward", "reverse")
KINDS = ("foreground", "background")
STATUSES = ("received", "late", "duplicate")
