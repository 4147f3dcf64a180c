"""The tester's state table at the end of a trial, and the mappings that the gateway has made."""

from natxy.model.base import Count, Model


class CountSummary(Model):
    """The distribution of a count over hosts, or over addresses; all 0 if there are none.

    Median and percentile are those of RFC 2330 section 11.3.
    """

    min: Count
    median: float
    p99: Count
    max: Count


class MappingsResult(Model):
    """The external addresses and ports that the gateway has given out to the hosts inside.

    It is computed from the state table at the end of the trial. A port is a pair of an external
    address and a port of it.
    """

    hosts: Count  # inside addresses that have a connection
    addresses: Count  # external ones
    ports: Count
    hosts_per_address: CountSummary
    ports_per_address: CountSummary
    connections_per_address: CountSummary
    ports_per_host: CountSummary
    connections_per_host: CountSummary
    addresses_per_host: CountSummary  # 1 to 1: a host always has the same one (RFC 4787 REQ-2)
    # The largest power of two for which no block of so many ports of an address, aligned to its
    # size, has the ports of two hosts. 65,536: no address has two hosts. 0: two hosts have the same
    # port of an address.
    block_ports: Count
    blocks_per_host: CountSummary  # blocks of this size, or ports if it is 0


class ConnectionTableResult(Model):
    """The tester's state table."""

    asked: Count  # entries that the trial needs
    stored: Count  # connections in the table
    bytes: Count
    page_bytes: Count
    mappings: MappingsResult | None = None  # if the spec asks for them
