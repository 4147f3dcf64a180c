"""Heat maps: which figures have one, over which quantities, and what stands in each field."""

import pytest

from tests.unit.drawings import layers_of
from tests.unit.heat import cell, maps


def test_two_quantities_make_a_map() -> None:
    (chart,) = maps(cell("", (84, 512), (10, 100)))
    assert chart.key == "overload-map"
    assert (chart.words["x"], chart.words["y"]) == ("at_value", "frame_size_bytes")
    assert chart.words["titles"] == ["flows", "frame size as IPv6, octets"]
    assert [(row["at_value"], row["frame_size_bytes"], row["panel"]) for row in chart.rows] == [
        (10, 84, ""),
        (100, 84, ""),
        (10, 512, ""),
        (100, 512, ""),
    ]
    fields, said = layers_of(chart)
    assert (fields["mark"]["type"], fields["encoding"]["color"]["field"]) == ("rect", "benchmark")
    assert said["encoding"]["text"]["field"] == "shown"


@pytest.mark.parametrize(("sizes", "flows"), [((84,), (10, 100)), ((84, 512), (10,))])
def test_one_quantity_makes_none(sizes: tuple[int, ...], flows: tuple[int, ...]) -> None:
    assert maps(cell("", sizes, flows)) == []


def test_columns_that_are_numbers_are_a_quantity_and_gateways_are_panels() -> None:
    (chart,) = maps(*(cell(f"{count:,} connections", (84,), (1, 2)) for count in (1000, 10_000)))
    assert (chart.words["x"], chart.words["y"]) == ("at_value", "column")
    assert maps(*(cell(name, (84,), (1, 2)) for name in ("router", "tayga"))) == []
    (both,) = maps(*(cell(name, (84, 512), (1, 2)) for name in ("router", "tayga")))
    assert {row["panel"] for row in both.rows} == {"router", "tayga"}


def test_frame_sizes_that_are_the_columns_are_one_quantity() -> None:
    """A map would have two empty fields of four."""
    assert maps(*(cell(f"{size} B", (size,), (10,)) for size in (84, 512))) == []
