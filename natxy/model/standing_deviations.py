"""Standing deviations: points in which every result of Natxy differs from what the RFCs ask for.

Deviations that depend on the procedure, on options or on the testbed are stored with each result.
"""

from natxy.model.deviation import Deviation

STANDING = (
    Deviation(
        clause="RFC 2544 section 8",
        has="test frames of Natxy's own format",
        asked="those of appendix C",
    ),
    Deviation(
        clause="RFC 2544 section 11",
        has="no broadcast, management or routing frames among the test frames, and no filters in "
        "the device",
    ),
    Deviation(
        clause="RFC 2544 sections 13 and 23 a",
        has="routes are set up by hand",
        asked="by a routing update in each trial",
    ),
    Deviation(
        clause="RFC 2544 section 16", has="one input and one output port", asked="many of each"
    ),
    Deviation(
        clause="RFC 2544 section 18", has="frames of one size in each trial", asked="also a mix"
    ),
    Deviation(
        clause="RFC 2544 section 21",
        has="repeated bursts of 16, 64, 256 and 1024 frames beside steady traffic only in "
        "throughput, and only with --bursts",
    ),
    Deviation(
        clause="RFC 2544 section 23 b",
        has="test frames follow the learning frames at once",
        asked="after 2 s",
    ),
    Deviation(
        clause="RFC 4814 section 4.2",
        has="one source MAC address for each port",
        asked="pseudorandom ones",
    ),
    Deviation(
        clause="RFC 5180 section 5.2.1",
        has="in labs the gateway's IPv6 addresses have prefixes of 128 bits",
    ),
    Deviation(
        clause="RFC 5180 section 5.3",
        has="extension headers of 8 octets each, without the fragment, authentication, ESP and "
        "mobility headers",
        asked="also routing headers of 24 to 32 octets, and these",
    ),
)
