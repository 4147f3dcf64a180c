"""Seeds and nonces, all of one campaign's seed: a measurement can be repeated bit for bit."""

import hashlib
import secrets

MAX_SEED = 2**64 - 1


def new_seed() -> int:
    """Short enough to be typed."""
    return secrets.randbelow(2**31)


def repetition_seed(campaign_seed: int, repetition: int) -> int:
    return _hash(campaign_seed, f"repetition {repetition}") % 2**64


def nonce(campaign_seed: int, trial: int) -> int:
    """No two trials of a campaign have the same one (up to 2^32 of them)."""
    return (_hash(campaign_seed, "nonce") + trial) % 2**32


def _hash(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose}".encode()).digest()[:8])
