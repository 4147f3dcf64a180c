"""The lines of a histogram: each bucket stands in the row in which it begins."""

from natxy.report.histogram import ROWS, histogram_lines
from tests.unit.delays import distribution


def test_the_extremes_stand_in_the_first_and_the_last_row() -> None:
    delays = [1200.0] * 3 + [1206.0] * 2 + [1212.0]
    lines = list(histogram_lines(distribution(delays)))
    assert [int(line.split()[-1]) for line in lines] == [3, *[0] * 5, 2, *[0] * 4, 1]
    assert len(lines) == ROWS
