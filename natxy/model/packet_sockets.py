"""The VLAN tags that DPDK's net_af_packet can receive."""

from natxy.model.address_checks import SIDES
from natxy.model.source import Source
from natxy.model.testbed import Testbed

PACKET_SOCKETS = "net_af_packet"


def check_tags(testbed: Testbed, source: Source) -> None:
    """Refuses VLAN tags that a packet socket would not show to the tester.

    The kernel hands over the outer tag beside the frame, and the driver puts it back as 802.1Q,
    whatever it was. The kernel also counts each frame that has a second tag as dropped, so that no
    trial would be valid.
    """
    for side in SIDES:
        port = testbed.tester.port(side)
        if not (port.device or "").startswith(PACKET_SOCKETS):
            continue
        if any(tag.tpid != "802.1Q" for tag in port.vlans) or len(port.vlans) > 1:
            source.refuse(
                ("tester", side, "vlans"),
                f"cannot be received by {PACKET_SOCKETS}, which keeps one tag and takes it for "
                '802.1Q (expected one tag with tpid = "802.1Q", or another device, such as '
                "net_af_xdp)",
            )
