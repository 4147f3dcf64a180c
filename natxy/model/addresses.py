"""IP and MAC addresses as checked text, in the spelling in which the user wrote them."""

import ipaddress
import re
from typing import Annotated, Literal

from natxy.model.base import Checked, refuse

_ARTICLES = {4: "an IPv4", 6: "an IPv6"}
EXAMPLES = {4: "198.18.0.2", 6: "2001:2::2"}
# Prefixes of addresses that no host can have, and what such an address is called.
NO_HOSTS = {
    "0.0.0.0/32": "unspecified",
    "127.0.0.0/8": "loopback",
    "224.0.0.0/4": "multicast",
    "255.255.255.255/32": "broadcast",
    "::/128": "unspecified",
    "::1/128": "loopback",
    "ff00::/8": "multicast",
}

IpVersion = Literal[4, 6]
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


def version_of(text: str) -> IpVersion | None:
    """Returns the IP version of an address, or None if the text is no address (or has a scope)."""
    try:
        return ipaddress.ip_address(text).version if "%" not in text else None
    except ValueError:
        return None


def not_of_version(version: IpVersion) -> str:
    return f"is not {_ARTICLES[version]} address (expected one such as {EXAMPLES[version]})"


def _ipv4(text: str) -> str:
    return text if version_of(text) == 4 else refuse(not_of_version(4))


def _ipv6(text: str) -> str:
    return text if version_of(text) == 6 else refuse(not_of_version(6))


def _any_version(text: str) -> str:
    if version_of(text) is None:
        refuse(f"is not an IP address (expected one such as {EXAMPLES[4]} or {EXAMPLES[6]})")
    return text


def not_of_a_host(text: str) -> str | None:
    """Returns what is wrong with an address that no host can have, None for any other address."""
    address = ipaddress.ip_address(text)
    for prefix, name in NO_HOSTS.items():
        if address in ipaddress.ip_network(prefix):
            article = "an" if name[0] in "aeiou" else "a"
            example = EXAMPLES[address.version]
            return f"is {article} {name} address (expected a host's, such as {example})"
    return None


def _of_a_host(text: str) -> str:
    sentence = not_of_a_host(text)
    return text if sentence is None else refuse(sentence)


def _network(text: str, version: IpVersion, example: str) -> str:
    try:
        network = ipaddress.ip_network(text) if "/" in text else None
    except ValueError:
        network = None
    if network is None or network.version != version:
        refuse(f"is not {_ARTICLES[version]} prefix (expected one such as {example})")
    for prefix, name in NO_HOSTS.items():
        other = ipaddress.ip_network(prefix)
        if other.prefixlen < other.max_prefixlen and _overlap(network, other):
            refuse(f"includes {name} addresses (expected hosts' only, such as {example})")
    return text


def _overlap(one: IpNetwork, other: IpNetwork) -> bool:
    return one.version == other.version and (
        one.network_address in other or other.network_address in one
    )


def _ipv4_network(text: str) -> str:
    return _network(text, 4, "192.0.2.0/24")


def _ipv6_network(text: str) -> str:
    return _network(text, 6, "2001:db8::/40")


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        refuse("is not a MAC address (expected one such as 02:00:00:00:00:01)")
    return text


Ipv4Address = Annotated[str, Checked(_ipv4, (("format", "ipv4"),))]
Ipv6Address = Annotated[str, Checked(_ipv6, (("format", "ipv6"),))]
IpAddress = Annotated[str, Checked(_any_version)]
# Prefixes without host bits, such as 192.0.2.0/24.
Ipv4Prefix = Annotated[str, Checked(_ipv4_network)]
Ipv6Prefix = Annotated[str, Checked(_ipv6_network)]
# Addresses from which, or to which, a frame can be sent.
Ipv4Host = Annotated[Ipv4Address, Checked(_of_a_host)]
Ipv6Host = Annotated[Ipv6Address, Checked(_of_a_host)]
IpHost = Annotated[IpAddress, Checked(_of_a_host)]
MacAddress = Annotated[str, Checked(_mac, (("pattern", "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$"),))]
