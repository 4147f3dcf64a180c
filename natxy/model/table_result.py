"""The tester's state table at the end of a trial, and the mappings that the gateway has made."""

from natxy.model.base import Count, Model


class CountSummary(Model):
    """The distribution of a count over hosts, or over addresses; all 0 if there are none.

    Median and percentile are those of RFC 2330 section 11.3.
    """

    min: Count
    """The smallest number."""
    median: float
    """The median."""
    p99: Count
    """The 99th percentile."""
    max: Count
    """The largest number."""


class MappingsResult(Model):
    """The external addresses and ports that the gateway has given out to the hosts inside.

    It is computed from the state table at the end of the trial. A *port* is a pair of an external
    address and a port of it, and a *host* is an inside address.
    """

    hosts: Count
    """Hosts that have a connection."""
    addresses: Count
    """External addresses."""
    ports: Count
    """Ports."""
    hosts_per_address: CountSummary
    """Hosts of an address, over all addresses."""
    ports_per_address: CountSummary
    """Ports of an address, over all addresses."""
    connections_per_address: CountSummary
    """Connections of an address, over all addresses."""
    ports_per_host: CountSummary
    """Ports of a host, over all hosts."""
    connections_per_host: CountSummary
    """Connections of a host, over all hosts."""
    addresses_per_host: CountSummary
    """Addresses of a host, over all hosts. 1 to 1: a host always has the same one (RFC 4787
    REQ-2)."""
    block_ports: Count
    """The largest power of two for which no block of so many ports of an address, aligned to its
    size, has the ports of two hosts. It is 65,536 if no address has two hosts, and 0 if two hosts
    have the same port of an address. Few connections with random ports also have blocks, by
    chance."""
    blocks_per_host: CountSummary
    """Blocks of this size, or ports if it is 0, of a host, over all hosts."""


class ConnectionTableResult(Model):
    """The tester's state table."""

    asked: Count
    """Entries that the spec asks for."""
    stored: Count
    """Connections in the table."""
    bytes: Count
    """Size of the table."""
    page_bytes: Count
    """Size of a page of its memory."""
    mappings: MappingsResult | None = None
    """The external addresses and ports in the table at the end of the trial. Null: the spec did not
    ask for them."""
