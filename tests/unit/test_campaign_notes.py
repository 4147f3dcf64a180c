"""The notes under a campaign's table: the unit of its rates, deviations and remarks, by column."""

from dataclasses import replace

from natxy.model.deviation import Deviation
from natxy.model.measurement import Figure, TrialCounts, Unit
from natxy.report.campaign_notes import campaign_notes
from natxy.report.cell_figures import CellResult
from tests.unit.campaign_notes import experiment
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.measurement_report import measurement as some_measurement

SHORT = SHORT_TRIALS


def cell(column: str, *deviations: Deviation, unit: Unit = "fps", round_: int = 1) -> CellResult:
    figure = Figure(name="throughput", unit=unit, values=(1.0,))
    counts = TrialCounts(trials=40)
    result = some_measurement(
        figures=(figure,),
        deviations=deviations,
        remarks=(),
        counts=counts,
    )
    return CellResult(column=column, measure="throughput", round=round_, results=(result,))


def notes(columns: tuple[str, ...], cells: list[CellResult], *, both: bool = False) -> list[str]:
    return campaign_notes(experiment(both_directions=both), columns, cells)


RATES = "throughput: rates in frames a second, per direction."


def test_a_deviation_of_all_columns_names_none() -> None:
    cells = [cell("small", SHORT), cell("large", SHORT), cell("small", SHORT, round_=2)]
    reference = cells[0].results[0].reference
    said = f"throughput: deviates from {reference}: {SHORT}"
    assert notes(("small", "large"), cells) == [RATES, said]


def test_what_rfc_2544_section_10_counts_is_that_of_all_rounds() -> None:
    counts = TrialCounts(trials=40, duplicated=1, reordered=2, lost=3000, gaps=1500)
    cells = [
        replace(one, results=(one.results[0].model_copy(update={"counts": counts}),))
        for one in (cell("small"), cell("small", round_=2), cell("large"))
    ]
    said = notes(("small", "large", "huge"), [*cells, cell("huge")])
    assert "throughput: duplicated frames: 2 in small; 1 in large." in said
    assert "throughput: reordered frames: 4 in small; 2 in large." in said
    assert (
        "throughput: gaps of the numbering, over all trials: 3,000 with 6,000 lost frames in "
        "small; 1,500 with 3,000 lost frames in large."
    ) in said


def test_a_deviation_of_some_columns_names_them_in_the_order_of_the_table() -> None:
    cells = [cell("huge"), cell("large", SHORT), cell("small", SHORT)]
    _, note = notes(("small", "large", "huge"), cells)
    assert note.startswith("throughput, columns small; large: deviates from ")


def test_a_column_that_failed_is_not_asked() -> None:
    failed = CellResult(column="huge", measure="throughput", round=1, results=(), error="it died")
    _, note = notes(("small", "huge"), [cell("small", SHORT), failed])
    assert note.startswith("throughput: deviates from ")


def test_a_rate_has_its_unit_and_says_whether_directions_were_added() -> None:
    cells = [cell("small"), cell("large")]
    assert notes(("small", "large"), cells) == [RATES]
    summed = "throughput: rates in frames a second, sum of both directions."
    assert notes(("small", "large"), cells, both=True) == [summed]
    connections = [cell("small", unit="cps")]
    assert notes(("small",), connections) == ["throughput: rates in connections a second."]
    assert notes(("small",), [cell("small", unit="ns")]) == []


def test_columns_of_other_directions_name_theirs() -> None:
    forward = cell("one way")
    (result,) = forward.results
    conditions = result.conditions.model_copy(update={"direction": "forward"})
    forward = replace(forward, results=(result.model_copy(update={"conditions": conditions}),))
    assert notes(("both ways", "one way"), [cell("both ways"), forward]) == [
        "throughput, column both ways: rates in frames a second, per direction.",
        "throughput, column one way: rates in frames a second, forward only.",
    ]


def test_the_share_of_invalid_trials_stands_beside_its_column_over_all_rounds() -> None:
    disturbed = cell("large")
    (result,) = disturbed.results
    counts = TrialCounts(trials=40, invalid_trials=20)
    disturbed = replace(disturbed, results=(result.model_copy(update={"counts": counts}),))
    cells = [cell("small"), disturbed, cell("large", round_=2)]
    said = "throughput: invalid trials: 25 % in large."
    assert notes(("small", "large"), cells) == [RATES, said]


def test_the_only_column_has_no_name() -> None:
    (result,) = cell("").results
    counts = TrialCounts(trials=40, invalid_trials=20)
    disturbed = replace(cell(""), results=(result.model_copy(update={"counts": counts}),))
    assert notes(("",), [disturbed]) == [RATES, "throughput: invalid trials: 50 %."]
