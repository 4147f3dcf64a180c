"""The encapsulations of a tunnel: what follows its outer IP header, before the packet in it.

A new one is an entry here and one in engine/spec/encapsulation.hpp.
"""

from typing import Literal

from natxy.model.addresses import IpVersion

Encapsulation = Literal["ip", "gre"]

# Octets between the outer IP header and the packet in the tunnel.
HEADER_BYTES: dict[Encapsulation, int] = {
    "ip": 0,  # RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (both in IPv6)
    "gre": 4,  # RFC 2784, RFC 7676 (IPv6)
}
IP_BYTES: dict[IpVersion, int] = {4: 20, 6: 40}


def tunnel_bytes(encapsulation: Encapsulation, ip_version: IpVersion) -> int:
    """Returns by how much a tunnel with an outer header of this IP version makes a frame larger."""
    return IP_BYTES[ip_version] + HEADER_BYTES[encapsulation]
