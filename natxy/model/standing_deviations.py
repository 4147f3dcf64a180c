"""Standing deviations: points in which every result of Natxy differs from what the RFCs ask for.

Deviations that depend on options or on the testbed are stored with each result.
"""

STANDING = (
    "test frames follow the learning frames at once, not after 2 s (RFC 2544 section 23 b)",
    "no broadcast, management or routing frames among the test frames, and no filters in the "
    "device (RFC 2544 section 11)",
    "routes are set up by hand, not by a routing update in each trial (RFC 2544 sections 13 and "
    "23 a)",
    "repeated bursts of 16, 64, 256 and 1024 frames beside steady traffic only in throughput, and "
    "only with --bursts (RFC 2544 section 21)",
    "in labs the gateway's IPv6 addresses have prefixes of 128 bits (RFC 5180 section 5.2.1)",
)
