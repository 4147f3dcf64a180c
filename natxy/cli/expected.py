"""Estimates how long a command takes, with all of its frame sizes and mixes."""

from fractions import Fraction

from natxy.cli.expected_plan import SET_UP_S, expected_s, phase_1_search_s
from natxy.cli.series_options import Work
from natxy.model.frame_sizes import ETHERNET_BYTES, RFC8219_SIZES_BYTES
from natxy.model.testbed import Testbed


def duration_s(work: Work, testbed: Testbed) -> Fraction:
    """Returns about how many seconds the work takes, set-up included."""
    asked = work.asked(testbed)
    of_one_place_s = sum((expected_s(plan, asked) for plan in work.plans(asked)), start=Fraction(0))
    if not work.measure.makes_connections:
        timing = work.options.defaults.timing
        of_one_place_s += len(work.series) * phase_1_search_s(timing, asked)
    return SET_UP_S + _places(work, asked) * of_one_place_s


def repeats_s(work: Work, testbed: Testbed) -> Fraction:
    """Returns how long INVALID trials may take in addition; 0 if no limit was given."""
    of_one_s = work.options.defaults.retry_s or Fraction(0)
    return _places(work, work.asked(testbed)) * len(work.series) * of_one_s


def _places(work: Work, testbed: Testbed) -> int:
    """Returns the number of combinations of frame size, mix and number of networks."""
    sizes, shares, networks = work.lists()
    if sizes == RFC8219_SIZES_BYTES:
        largest = testbed.tester.mtu_bytes + ETHERNET_BYTES
        sizes = tuple(size for size in sizes if size <= largest)
    return max(1, len(sizes or (0,)) * len(shares or (0,)) * len(networks or (0,)))
