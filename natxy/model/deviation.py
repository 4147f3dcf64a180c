"""A point in which a result differs from what a document asks for."""

from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import Self

from natxy.model.coded import Fact, Sentences, Statement, exact_facts


class Differs(Sentences):
    """The kinds of deviations: what a result has, and what is asked instead."""

    # Standing ones.
    OWN_FORMAT = "test frames of Natxy's own format, not those of appendix C"
    TEST_FRAMES_ONLY = (
        "no broadcast, management or routing frames among the test frames, and no filters in the "
        "device"
    )
    ROUTES_BY_HAND = "routes are set up by hand, not by a routing update in each trial"
    TWO_PORTS = "one input and one output port, not many of each"
    ONE_SIZE = "frames of one size in each trial, not also a mix"
    FEW_BURSTS = (
        "repeated bursts of 16, 64, 256 and 1024 frames beside steady traffic only in throughput, "
        "and only with --bursts"
    )
    NO_PAUSE = "test frames follow the learning frames at once, not after 2 s"
    ONE_MAC = "one source MAC address for each port, not pseudorandom ones"
    PREFIX_128 = "in labs the gateway's IPv6 addresses have prefixes of 128 bits"
    SHORT_HEADERS = (
        "extension headers of 8 octets each, without the fragment, authentication, ESP and "
        "mobility headers, not also routing headers of 24 to 32 octets, and these"
    )
    # Of trials and repetitions.
    DURATION = "trials of {has_s}, not {asked_s}"
    DURATIONS = "trials of {shortest_s} to {has_s}, not {asked_s}"
    DRAIN = "a drain of {has_s}, not {asked_s}"
    SETTLE = "a settle time of {has_s}, not {asked_s}"
    REPETITIONS = "{done:repetition}, not {asked}"
    FRAME_TIMEOUT = "a frame timeout of {timeout_ns}, beyond which a frame is lost"
    EARLY_END = "trials that end at their first certain loss"
    TAGS_AFTER = "tags after {after_s}, not {asked_s}"
    FEW_TAGS = "{tags:tag}, not {asked}"
    DEPARTURE = "delays that begin before the call that sends a frame, not when the frame has left"
    WAIT = "at least {has_s} of waiting after a burst, not {asked_s}"
    # Of rates and searches.
    LOWER_BOUND = "a lower bound, not the highest rate"
    SEARCH_ERROR = "a search error of {error}, not the highest rate"
    CAPACITY_BOUND = "a lower bound, not the capacity itself"
    CAPACITY_ERROR = "a search error of {error:connection}, not the capacity itself"
    GOAL_WIDTH = "a goal width of {width_share}, not the highest rate"
    EXCEED_RATIO = (
        "an exceed ratio of {exceed_ratio}: that share of the time of a rate's trials may be in "
        "trials that lose more"
    )
    LOSS_ACCEPTED = "{accepted_share} loss accepted"
    LOSS_VERIFIED = "loss verification: a rate fails after {trials:trial} with a loss, not 1"
    GIVEN_RATE = "a given rate, not the measured throughput"
    OF_A_BOUND = "at a lower bound of the throughput"
    BURST_RATE = "bursts at a given rate, not with the media's smallest gap"
    GIVEN_RATES = "given rates, not from 100 % of the media's rate down"
    GIVEN_MAXIMUM = "from a given rate down, not from the media's rate"
    LOSS_ENDS = "{accepted_share} loss accepted where the series ends"
    RATES_LEFT_OUT = "rates left out"
    GIVEN_OVERLOAD = "110 % of a given rate, not of the measured throughput"
    OVERLOAD_OF_A_BOUND = "110 % of a lower bound of the throughput"
    # Of traffic.
    FRAME_SIZES = "frames of {sizes_bytes} bytes, not of each size that fits the MTU"
    FOREGROUND = "{has_share} foreground traffic, not {asked_share}"
    ONE_DIRECTION = "traffic in one direction ({where}), not in both"
    HEADERS = "extension headers: {headers}, not none, each one, and a chain of them"
    NETWORKS = "{networks:destination network}, not 1 and then 256"
    PORTS = (
        "{where} source ports {source} and destination ports {destination}, not source ports "
        "{asked_source} and destination ports {asked_destination}"
    )
    PORT_RANGES = (
        "{source} source ports and {destination} destination ports, not a few times 10,000 and at "
        "most some thousands"
    )
    ORDER = 'connections {where} in the order "{order}", not "pseudorandom"'
    IN_GROUPS = "flows started in four groups with a drain after each, not one by one"
    WITH_DRAINS = (  # flows start with a phase, and the engine drains after each phase
        "two to four flows started one by one, but all paused for a drain before each start"
    )
    # Of TCP connections.
    NO_TRANSFER = (
        "connections validated by their handshake, and by no HTTP transfer, not by an object that "
        "is requested on each"
    )
    NO_AGING = (
        "no aging time between trials, not the time for which the gateway keeps a closed connection"
    )
    NO_TIMES = "connection {times} times not taken"
    BY_RST = "connections closed by RST, not by a three-way or four-way handshake"
    IN_PHASES = (
        "the segments of all handshakes sent in phases, one after another, not each as the answer "
        "to the one before"
    )
    # Of resets.
    TRAFFIC_BEFORE = "{has_s} of traffic before the reset, not {asked_s}"
    ONE_RESET = "one kind of reset, not those of the hardware, of the software and of the power"
    BEHIND_NEXT_HOPS = (
        "{networks:destination network} behind next hops, not directly connected ones"
    )
    LARGER_FRAMES = "frames of {size_bytes} bytes, not of {asked_bytes}"


class Deviation(Statement[Differs, Fact]):
    """What a result has, and what a clause of a document asks for instead.

    `where` is a direction, or "throughput": of the search for it.
    """

    clause: str = ""  # "RFC 2544 section 24"; empty: no document has a clause about it

    @classmethod
    def of(
        cls, code: Differs, clause: str = "", where: str = "", /, **facts: Fact | Fraction
    ) -> Self:
        return cls(code=code, clause=clause, where=where, facts=exact_facts(facts))

    def __str__(self) -> str:
        said = super().__str__()
        return f"{said} ({self.clause})" if self.clause else said


Deviations = tuple[Deviation, ...]

# Those that every result has; others are stored with a result.
STANDING = (
    Deviation.of(Differs.OWN_FORMAT, "RFC 2544 section 8"),
    Deviation.of(Differs.TEST_FRAMES_ONLY, "RFC 2544 section 11"),
    Deviation.of(Differs.ROUTES_BY_HAND, "RFC 2544 sections 13 and 23 a"),
    Deviation.of(Differs.TWO_PORTS, "RFC 2544 section 16"),
    Deviation.of(Differs.ONE_SIZE, "RFC 2544 section 18"),
    Deviation.of(Differs.FEW_BURSTS, "RFC 2544 section 21"),
    Deviation.of(Differs.NO_PAUSE, "RFC 2544 section 23 b"),
    Deviation.of(Differs.ONE_MAC, "RFC 4814 section 4.2"),
    Deviation.of(Differs.PREFIX_128, "RFC 5180 section 5.2.1"),
    Deviation.of(Differs.SHORT_HEADERS, "RFC 5180 section 5.3"),
)


def each_once(of_results: Iterable[Deviations]) -> Deviations:
    """Returns the deviations of several results, such as the points of a series."""
    return tuple(dict.fromkeys(each for deviations in of_results for each in deviations))


def without(deviations: Iterable[Deviation], others: Collection[Deviation]) -> Deviations:
    """Returns the deviations that are not among the others."""
    return tuple(each for each in deviations if each not in others)
