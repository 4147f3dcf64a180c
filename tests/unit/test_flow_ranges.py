"""The ranges of ports whose pairs, used in turn, are a number of flows."""

from math import gcd

import pytest

from natxy.errors import ConfigurationError
from natxy.measure.flows import DESTINATION_PORTS, SOURCE_PORTS, FlowRanges, ranges_of


@pytest.mark.parametrize(
    ("flows", "sources", "destinations"),
    [
        (1, 1, 1),
        (SOURCE_PORTS, SOURCE_PORTS, 1),
        (SOURCE_PORTS + 2, 32_257, 2),
        (100_000, 3125, 32),  # 50,000 x 2 would use half of the pairs
        (64_499 * DESTINATION_PORTS, 64_499, DESTINATION_PORTS),
    ],
)
def test_as_few_destination_ports_as_possible_make_all_pairs(
    flows: int, sources: int, destinations: int
) -> None:
    found = ranges_of(flows)
    assert found == FlowRanges(source_ports=sources, destination_ports=destinations)
    assert gcd(sources, destinations) == 1


@pytest.mark.parametrize("flows", [-1, 0, 64_513, 64_499 * (DESTINATION_PORTS + 2)])
def test_a_number_that_no_coprime_ranges_make_is_refused(flows: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"flows: {flows} .* \(expected 1 to 64512, or"):
        ranges_of(flows)
