"""The part of the calibration gateway's configuration that serves subscribers: AFTR, lwAFTR, border
relay or PLAT (docs/reference/gateway.md)."""

from typing import Any

from natxy.model.subscribers import SubscribersSection


def softwires_for(asked: SubscribersSection) -> dict[str, Any] | None:
    """Returns the gateway's ends of the softwires; None if its subscribers have none."""
    if not asked.tunnels:
        return None
    ends = {"inside": asked.side, "address": asked.gateway}
    if asked.shares_ipv4:
        return {**ends, "rules": [_rule(asked)]}
    return {**ends, "subscribers": asked.ipv6_prefix}


def translation_for(asked: SubscribersSection) -> dict[str, Any] | None:
    """Returns the stateless translation; None if there is none."""
    if asked.tunnels or asked.stateful:
        return None
    return {"rules": [_rule(asked)], "prefix": asked.gateway_prefix}


def routes_to(asked: SubscribersSection, via: str) -> list[dict[str, str]]:
    """Returns routes to the subscribers by way of the tester's own address on their side."""
    prefixes = [asked.ipv6_prefix]
    if asked.tunnels and asked.ipv4_prefix is not None:
        prefixes.append(asked.ipv4_prefix)
    return [{"prefix": prefix, "side": asked.side, "via": via} for prefix in prefixes]


def _rule(asked: SubscribersSection) -> dict[str, Any]:
    return {
        "ipv6": asked.rule_ipv6_prefix,
        "ipv4": asked.rule_ipv4_prefix,
        "ea_bits": asked.number_bits,
        "psid_offset": asked.offset_bits,
    }
