"""Seeds and nonces, all derived from one campaign seed, so that a measurement can be repeated."""

import hashlib
import secrets

from natxy.setting import Setting

MAX_SEED = 2**64 - 1
SEED = Setting(
    "seed",
    "Seed of all pseudorandom choices; the same seed sends the same frames",
    "N",
    default="a new one, which the result shows",
    lowest=0,
    highest=MAX_SEED,
    panel="Trials",
)


def new_seed() -> int:
    """Returns a random seed that is short enough to type."""
    return secrets.randbelow(2**31)


def repetition_seed(campaign_seed: int, repetition: int) -> int:
    return derived(campaign_seed, f"repetition {repetition}") % 2**64


def nonce(campaign_seed: int, trial: int) -> int:
    """Returns the nonce of a trial; up to 2^32 trials of a campaign have different ones."""
    return (derived(campaign_seed, "nonce") + trial) % 2**32


def derived(seed: int, purpose: str) -> int:
    """Returns 64 bits that follow from the seed, and differ from purpose to purpose."""
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose}".encode()).digest()[:8])
