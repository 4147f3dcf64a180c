"""The IP versions that a gateway forwards between, as drivers and recipes declare them."""

from collections.abc import Sequence

from natxy.dut.addresses import LEFT, AddressPlan
from natxy.errors import ConfigurationError

Pair = tuple[int, int]  # of the initiator's side (the left one without connections), and the other


def versions_text(pairs: Sequence[Pair]) -> str:
    """Returns the pairs as a person writes them: `4 and 4, or 6 and 6`."""
    if len(pairs) == 1 and pairs[0][0] != pairs[0][1]:
        return f"{pairs[0][0]} on the initiator's side and {pairs[0][1]} on the other"
    return ", or ".join(f"{one} and {other}" for one, other in pairs)


def check_versions(
    who: str, pairs: Sequence[Pair], plan: AddressPlan, expected: str | None = None
) -> None:
    """Raises ConfigurationError if the traffic's IP versions are none of the pairs.

    `who` cannot forward them, such as dut.driver tayga; `expected` are the pairs in other words.
    """
    versions = (plan.left_ip_version, plan.right_ip_version)
    if (versions if plan.inside is LEFT else versions[::-1]) in pairs:
        return
    raise ConfigurationError(
        f"traffic: left_ip_version and right_ip_version are {versions[0]} and {versions[1]}, "
        f"which {who} cannot forward (expected {expected or versions_text(pairs)})"
    )


def check_connections(driver: str, plan: AddressPlan) -> None:
    """Raises ConfigurationError if a stateful NAT64 has no connections, not even unused ones."""
    if plan.translates and not plan.stateful:
        raise ConfigurationError(
            f'connections: is missing, and dut.driver "{driver}" is stateful (expected for example '
            "count = 10000)"
        )
