"""Addresses as checked text: what a person wrote is what the engine gets and a result shows."""

import ipaddress
import re
from typing import Annotated, Literal

from natxy.model.base import Checked, refuse

_ARTICLES = {4: "an IPv4", 6: "an IPv6"}
EXAMPLES = {4: "198.18.0.2", 6: "2001:2::2"}

IpVersion = Literal[4, 6]


def version_of(text: str) -> IpVersion | None:
    """The IP version of an address, None where the text is no address (a scope is none)."""
    try:
        return ipaddress.ip_address(text).version if "%" not in text else None
    except ValueError:
        return None


def not_of_version(version: IpVersion) -> str:
    return f"is not {_ARTICLES[version]} address, such as {EXAMPLES[version]} is right"


def _ipv4(text: str) -> str:
    return text if version_of(text) == 4 else refuse(not_of_version(4))


def _ipv6(text: str) -> str:
    return text if version_of(text) == 6 else refuse(not_of_version(6))


def _any_version(text: str) -> str:
    if version_of(text) is None:
        refuse(f"is not an IP address, such as {EXAMPLES[4]} or {EXAMPLES[6]} is right")
    return text


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        refuse("is not a MAC address, such as 02:00:00:00:00:01 is right")
    return text


Ipv4Address = Annotated[str, Checked(_ipv4, (("format", "ipv4"),))]
Ipv6Address = Annotated[str, Checked(_ipv6, (("format", "ipv6"),))]
IpAddress = Annotated[str, Checked(_any_version)]
MacAddress = Annotated[str, Checked(_mac, (("pattern", "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$"),))]
