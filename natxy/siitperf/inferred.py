"""Infers addresses of a stateful test that its configuration leaves out."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

from natxy.siitperf.configuration import Configuration, Side


def with_inferred(configuration: Configuration) -> Configuration:
    """Returns the configuration with the responder's IPv4 address.

    It is the address that the responder's virtual IPv6 address embeds (RFC 6052, a prefix of 96
    bits). The initiator's IPv4 address is chosen by the gateway and learned in phase 1.
    """
    if not configuration.stateful:
        return configuration
    if configuration.initiator == "left":
        return replace(configuration, right=_inferred(configuration.right))
    return replace(configuration, left=_inferred(configuration.left))


def _inferred(responder: Side) -> Side:
    virtual = responder.ipv6_virtual
    if responder.ip_version != 4 or responder.ipv4_real is not None or virtual is None:
        return responder
    return replace(responder, ipv4_real=embedded_in(virtual))


def embedded_in(ipv6: str) -> str:
    return str(IPv4Address(int(IPv6Address(ipv6)) % 2**32))
