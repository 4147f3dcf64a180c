"""Notes that say which of several testbeds measured which cells."""

from collections.abc import Iterator, Sequence

from natxy.report.cell_figures import CellResult


def testbed_notes(cells: Sequence[CellResult]) -> Iterator[str]:
    """Yields a sentence for each testbed; none if one has measured all cells."""
    found: dict[tuple[int, str], dict[str, list[int]]] = {}
    for cell in cells:
        if cell.testbed and cell.host:
            title = ", ".join(filter(None, (cell.measure, cell.column)))
            rounds = found.setdefault((cell.testbed, cell.host), {}).setdefault(title, [])
            rounds.append(cell.round)
    if len(found) < 2:
        return
    several = any(cell.round > 1 for cell in cells)
    for (number, host), titles in sorted(found.items()):
        measured = (_named(title, rounds if several else ()) for title, rounds in titles.items())
        yield f"Measured by testbed {number}, on {host}: {'; '.join(measured)}."


def _named(title: str, rounds: Sequence[int]) -> str:
    if not rounds:
        return title
    return f"{title} (round{'s' * (len(rounds) > 1)} {', '.join(map(str, sorted(rounds)))})"
