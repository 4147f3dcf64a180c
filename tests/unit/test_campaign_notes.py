"""The notes under a campaign's table, each kind once, and what its trials counted, by column."""

from dataclasses import replace

from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Figure, TrialCounts
from natxy.model.reason import Advice, Code, Explanation
from natxy.model.remark import Remark, Topic
from natxy.report.campaign_notes import DEVIATIONS, NOTES, campaign_notes
from natxy.report.cell_figures import CellResult
from tests.unit.campaign_notes import counted
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.measurement_report import measurement as some_measurement

SHORT = SHORT_TRIALS
SHORTER = Deviation.of(Differs.DURATION, "RFC 2544 section 24", has_s=0.05, asked_s=60)

PLACED = Advice.PLACED


def cell(
    column: str, *deviations: Deviation, measure: str = "throughput", round_: int = 1
) -> CellResult:
    figure = Figure(name="throughput", unit="fps", values=(1.0,))
    counts = TrialCounts(trials=40)
    result = some_measurement(
        figures=(figure,),
        deviations=deviations,
        remarks=(),
        counts=counts,
    )
    return CellResult(column=column, measure=measure, round=round_, results=(result,))


def deviations(columns: tuple[str, ...], cells: list[CellResult]) -> tuple[str, ...]:
    return campaign_notes(columns, cells).get(DEVIATIONS, ())


def test_a_deviation_of_all_columns_names_none() -> None:
    cells = [cell("small", SHORT), cell("large", SHORT), cell("small", SHORT, round_=2)]
    (said,) = deviations(("small", "large"), cells)
    assert said == "Trials of 0.2 s, not 60 s (RFC 2544 section 24)"
    assert said.lower() == str(SHORT).lower()


def test_a_deviation_of_one_measurement_names_it() -> None:
    cells = [cell("small", SHORT), cell("small", measure="latency")]
    assert deviations(("small",), cells) == (f"throughput: {SHORT}",)


def test_a_kind_of_deviation_is_said_once_with_where_each_is() -> None:
    """Of 65 notes of the demo, 31 were deviations, most of them the same ones."""
    cells = [cell("a", SHORT), cell("b", SHORT), cell("a", SHORTER, measure="latency")]
    assert deviations(("a", "b"), cells) == (
        "Trials of 0.2 s, not 60 s (RFC 2544 section 24) [throughput]; "
        "0.05 s, not 60 s (RFC 2544 section 24) [latency].",
    )
    other = [cell("a", SHORT), cell("b", SHORTER)]
    assert deviations(("a", "b"), other) == (
        "Trials of 0.2 s, not 60 s (RFC 2544 section 24) [throughput, column a]; "
        "0.05 s, not 60 s (RFC 2544 section 24) [throughput, column b].",
    )


def test_what_the_table_shows_as_an_error_is_no_note() -> None:
    (result,) = cell("a").results
    errors = Remark.of(Topic.LOSS_ERROR, error_percent=3.0)
    remarks = (errors, Remark.of(Topic.RATE_GIVEN), Remark.of(Topic.MEDIA))
    said = replace(cell("a"), results=(result.model_copy(update={"remarks": remarks}),))
    assert campaign_notes(("a",), [said]) == {NOTES: (str(remarks[2]),)}


def test_why_a_point_has_no_trial_is_a_line_for_each_gateway_without_advice() -> None:
    why = Explanation(code=Code.CORE_SHARED, facts={"took_ns": 9, "possible_ns": 2}, advice=PLACED)
    few = [
        Remark.of(Topic.FEW_VALID, "400,000 fps", valid=0, invalid=number, why=why)
        for number in (12, 24)
    ]
    (result,) = cell("a").results
    cells = [
        replace(cell(column), results=(result.model_copy(update={"remarks": (remark,)}),))
        for column, remark in zip("ab", few, strict=True)
    ]
    said = campaign_notes(("a", "b"), cells)[NOTES]
    assert [note.partition(" 0 trials")[0] for note in said] == [
        f"throughput, column {column}: 400,000 fps:" for column in "ab"
    ]
    assert not any(PLACED.value in note for note in said)


def test_what_rfc_2544_section_10_counts_is_that_of_all_rounds() -> None:
    counts = TrialCounts(trials=40, duplicated=1, reordered=2, lost=3000, gaps=1500)
    cells = [
        replace(one, results=(one.results[0].model_copy(update={"counts": counts}),))
        for one in (cell("small"), cell("small", round_=2), cell("large"))
    ]
    said = counted(("small", "large", "huge"), [*cells, cell("huge")])
    assert said == {
        "throughput: duplicated frames": ["2", "1", ""],
        "throughput: reordered frames": ["4", "2", ""],
        "throughput: gaps of the numbering, all trials": [
            "3,000 with 6,000 lost frames",
            "1,500 with 3,000 lost frames",
            "",
        ],
    }


def test_a_deviation_of_some_columns_names_them_in_the_order_of_the_table() -> None:
    cells = [cell("huge"), cell("large", SHORT), cell("small", SHORT)]
    (note,) = deviations(("small", "large", "huge"), cells)
    assert note == f"throughput, columns small; large: {SHORT}"


def test_a_column_that_failed_is_not_asked() -> None:
    failed = CellResult(column="huge", measure="throughput", round=1, results=(), error="it died")
    (note,) = deviations(("small", "huge"), [cell("small", SHORT), failed])
    assert note.startswith("Trials of ")


def test_the_share_of_invalid_trials_stands_in_its_column_over_all_rounds() -> None:
    disturbed = cell("large")
    (result,) = disturbed.results
    counts = TrialCounts(trials=40, invalid_trials=20)
    disturbed = replace(disturbed, results=(result.model_copy(update={"counts": counts}),))
    cells = [cell("small"), disturbed, cell("large", round_=2)]
    assert counted(("small", "large"), cells) == {"throughput: invalid trials": ["", "20 of 80"]}
    assert campaign_notes(("small", "large"), cells) == {}


def test_the_only_column_has_no_name() -> None:
    (result,) = cell("", SHORT).results
    counts = TrialCounts(trials=40, invalid_trials=20)
    disturbed = replace(cell(""), results=(result.model_copy(update={"counts": counts}),))
    assert counted(("",), [disturbed]) == {"throughput: invalid trials": ["20 of 40"]}
    (note,) = deviations(("",), [disturbed])
    assert "column" not in note
