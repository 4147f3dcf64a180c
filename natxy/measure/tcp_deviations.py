"""Deviations of measurements of TCP connections from RFC 3511."""

from natxy.model.deviation import Deviation, Deviations

CAPACITY = "5.2"
ESTABLISHMENT = "5.3"


def tcp_deviations(section: str) -> Deviations:
    """Returns what RFC 8219 section 8 asks for, by a section of RFC 3511, and no result has."""
    return (
        Deviation(
            clause=f"RFC 3511 section {section}.3",
            has="connections validated by their handshake, and by no HTTP transfer",
            asked="by an object that is requested on each",
        ),
        _aging(f"{section}.2.1"),
        Deviation(
            clause=f"RFC 3511 section {section}.4.2", has="connection establishment times not taken"
        ),
    )


def closing_deviations(by: str) -> Deviations:
    """Returns the deviations of a tear-down rate."""
    handshake = Deviation(
        clause="RFC 3511 section 5.4.2",
        has=f"connections closed by {by.upper()}",
        asked="by a three-way or four-way handshake",
    )
    phases = Deviation(
        clause="RFC 3511 section 5.4.2",
        has="the segments of all handshakes sent in phases, one after another",
        asked="each as the answer to the one before",
    )
    return (
        handshake if by == "rst" else phases,
        _aging("5.4.2"),
        Deviation(clause="RFC 3511 section 5.4.4", has="connection tear-down times not taken"),
    )


def _aging(section: str) -> Deviation:
    return Deviation(
        clause=f"RFC 3511 section {section}",
        has="no aging time between trials",
        asked="the time for which the gateway keeps a closed connection",
    )
