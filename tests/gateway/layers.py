"""Scapy's layers as Any: their annotations forbid most of what scapy takes."""

from typing import Any

from scapy.layers import inet, inet6, l2
from scapy.packet import Raw as ScapyRaw

Ether: Any = l2.Ether
Raw: Any = ScapyRaw
IP: Any = inet.IP
IPOption: Any = inet.IPOption
UDP: Any = inet.UDP
TCP: Any = inet.TCP
ICMP: Any = inet.ICMP
IPv6: Any = inet6.IPv6
IPv6ExtHdrDestOpt: Any = inet6.IPv6ExtHdrDestOpt
IPv6ExtHdrFragment: Any = inet6.IPv6ExtHdrFragment
IPv6ExtHdrHopByHop: Any = inet6.IPv6ExtHdrHopByHop
IPv6ExtHdrRouting: Any = inet6.IPv6ExtHdrRouting
ICMPv6EchoReply: Any = inet6.ICMPv6EchoReply
ICMPv6EchoRequest: Any = inet6.ICMPv6EchoRequest
