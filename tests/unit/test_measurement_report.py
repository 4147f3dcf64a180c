"""Measurements as table, CSV and JSON: nothing of a figure is lost between them."""

import csv
import io
import json
from pathlib import Path

import pytest

from natxy.model.disturbance import Disturbance
from natxy.model.measurement import (
    ConnectionConditions,
    Figure,
    Measurement,
    Media,
    TrialCounts,
)
from natxy.report.brief_notes import brief_notes
from natxy.report.measurement_notes import measurement_notes, noise_notes
from natxy.report.numbers import quantity
from natxy.report.result_text import verbose_text
from natxy.report.results_csv import COLUMNS, results_csv
from natxy.report.results_json import result_entry, write_results
from tests.unit.clauses import SHORT_TRIALS, each_clause, names, sentences
from tests.unit.measurement_report import BOUND, FORWARD, measurement


def shown(*of: Measurement, width: int = 160) -> list[str]:
    return verbose_text(of, width)


def test_the_table_has_a_row_a_figure() -> None:
    (row,) = (line for line in shown(measurement()) if line.startswith("→ PDV"))
    assert " ".join(row.split()) == "→ PDV at 10,000 fps 2 µs [1 µs … 3 µs]"


def test_a_lower_bound_is_marked_where_it_could_move_the_figure() -> None:
    (row,) = (line for line in shown(measurement()) if line.startswith("throughput"))
    # A higher value than 5000 would make the median of 4500 higher.
    assert row.split()[1:4] == ["≥", "4,500", "fps"]
    three = {"values": (5000.0, 4000.0, 4500.0), "lower_bound": (True, False, False)}
    (row,) = shown(measurement(figures=(BOUND.model_copy(update={**three, "primary": True}),)))[:1]
    assert row.startswith("Throughput  4,500 fps"), "but not that of three"
    mean = BOUND.model_copy(update={"statistic": "mean", "primary": True})
    assert "≥ 4,500 fps" in shown(measurement(figures=(mean,)))[0], "each repetition moves it"


def test_an_upper_bound_is_marked_as_one() -> None:
    bounded = Figure(name="PDV", unit="s", values=(1.0, 3.0), upper_bound=(True, False))
    assert [bounded.bound(value) for value in (1.0, 1.5, 3.0)] == ["upper", "upper", "exact"]
    one = measurement(figures=(bounded.model_copy(update={"upper_bound": (True, True)}),))
    assert shown(one)[0].startswith("PDV  ≤ 2 s")
    (written,) = csv.DictReader(io.StringIO(results_csv([one])))
    assert written["bound"] == "upper"


def test_the_notes_say_what_was_repeated_and_what_came_wrong() -> None:
    notes = measurement_notes([measurement(deviations=(SHORT_TRIALS,))])
    assert any("Does not conform to RFC 8219 section 7.3.1: trials of 0.2 s" in n for n in notes)
    assert any(note.startswith("1 of 4 trials (25 %) were invalid") for note in notes)
    assert any(note.startswith("2 frames were misdelivered") for note in notes)
    assert any("≥" in note for note in notes)


def test_what_rfc_2544_section_10_asks_for_is_counted_and_shown() -> None:
    """Frames dropped, out of order and duplicated, and the gaps in their numbering."""
    of = TrialCounts(trials=4, lost=1234, reordered=5, duplicated=6, gaps=17)
    result = measurement(counts=of)
    notes = measurement_notes([result])
    assert "Over all trials, 1,234 frames were lost, in 17 gaps of the numbering." in notes
    assert "5 frames were reordered." in notes
    (row, *_) = csv.DictReader(io.StringIO(results_csv([result])))
    shown_in_row = [row[name] for name in ("lost", "reordered", "duplicated", "gaps")]
    assert shown_in_row == ["1234", "5", "6", "17"]
    entry = result_entry(result)
    assert (entry["lost"], entry["reordered"], entry["gaps"]) == (1234, 5, 17)


@pytest.mark.parametrize(
    ("reference", "deviates", "conforms"),
    [("RFC 1", False, True), ("RFC 1", True, False), ("", False, False)],
)
def test_only_what_an_rfc_defines_can_conform(
    reference: str, deviates: bool, conforms: bool
) -> None:
    """Churn, for example, is defined by none."""
    deviations = (SHORT_TRIALS,) if deviates else ()
    result = measurement(reference=reference, deviations=deviations)
    assert result_entry(result)["conforms"] is conforms
    (row, *_) = csv.DictReader(io.StringIO(results_csv([result])))
    assert row["conforms"] == ("yes" if conforms else "no")


@each_clause
def test_a_clause_that_no_result_follows_is_named(clause: str, words: str, tmp_path: Path) -> None:
    """Under the table of one that conforms otherwise, and in the file of each."""
    said = [note for note in measurement_notes([measurement()]) if "except for" in note]
    assert [names(note, clause, words) for note in said] == [True]
    departing = measurement(deviations=(SHORT_TRIALS,))
    write_results(tmp_path / "results.json", [measurement(), departing])
    for entry in json.loads((tmp_path / "results.json").read_text()):
        assert names(sentences(entry["standing_deviations"]), clause, words)


def test_a_bound_of_unknown_cause_is_not_called_the_testers_limit() -> None:
    (said,) = (note for note in measurement_notes([measurement()]) if note.startswith("≥"))
    assert "tester" not in said
    assert "stayed invalid, or it is the highest value" in said


def test_negative_delays_are_named_only_under_delays() -> None:
    for figure, named in ((FORWARD, True), (BOUND, False)):
        of = measurement(figures=(figure,), counts=TrialCounts(trials=1, negative_delays=3))
        said = [note for note in measurement_notes([of]) if "3 delays were negative" in note]
        assert bool(said) is named


def test_the_trials_of_a_series_are_counted_together() -> None:
    """A sentence for each place would bury the others."""
    other = measurement(counts=TrialCounts(trials=6, invalid_trials=2, worst_lateness_ns=5000.0))
    said = measurement_notes([measurement(), other])
    assert [note for note in said if "invalid" in note and not note.startswith("≥")] == [
        "3 of 10 trials (30 %) were invalid. They were repeated or left out."
    ]
    assert [note for note in said if "due" in note] == [
        "In valid trials, frames were sent at most 5 µs after they were due."
    ]


def test_csv_has_all_columns_and_a_row_a_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv([measurement()]))))
    assert [row["figure"] for row in rows] == ["PDV", "throughput"]
    assert tuple(rows[0]) == COLUMNS
    first = rows[0]
    assert (first["direction"], first["traffic_direction"]) == ("forward", "both")
    assert (first["median"], first["p1"], first["p99"]) == ("2000.0", "1000.0", "3000.0")
    assert first["foreground_percent"] == "90"
    assert rows[1]["bound"] == "lower"
    assert all(value is not None for row in rows for value in row.values())


def test_json_keeps_every_value(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(path, [measurement()])
    (entry,) = json.loads(path.read_text())
    assert entry["figures"][0]["values"] == [1000.0, 3000.0, 2000.0]
    assert entry["figures"][0]["median"] == 2000.0
    assert entry["rate_fps"] == 10_000
    assert entry["invalid_trials"] == 1


def test_no_number_is_cut_off_where_a_place_is_long() -> None:
    at = f"100 % (1,234,567 fps) {'x' * 80}"
    long = Figure(name="frame loss rate", unit="%", at=at, direction="forward", values=(12.34,))
    other = long.model_copy(update={"at": "90 %"})
    (row,) = (
        line for line in shown(measurement(figures=(long, other)), width=60)[1:] if "xxx" in line
    )
    assert len(row) <= 60
    assert row.endswith("12.34 %")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_series_has_a_row_each_and_every_figure_at_any_width(width: int) -> None:
    """Of nine sizes with four mixes none was to be read where each had a column."""
    rates = Figure(name="throughput", unit="fps", values=(1_234_567.0, 1_234_569.0, 1_234_560.0))
    places = [(size, m) for size in (84, 128, 256, 512, 768, 1024) for m in (10, 9, 5, 1)]
    plain = measurement(figures=(rates,))
    series = [
        plain.model_copy(
            update={
                "conditions": plain.conditions.model_copy(
                    update={"frame_size_bytes": size, "m": m, "rate_fps": None}
                )
            }
        )
        for size, m in places
    ]
    rows = [line for line in shown(*series, width=width) if "1,234,567 fps " in f"{line} "][1:]
    assert [line.split("  ")[0] for line in rows] == [
        f"{size:,} B, {m * 10} % foreground" for size, m in places
    ]
    assert all(len(line) <= width for line in rows)
    assert all("[1,234,560 … 1,234,569]" in line for line in rows) == (width > 60)


def test_the_directions_that_were_used_are_said() -> None:
    both = "→ left (IPv6) to right (IPv4) and ← right to left at once. "
    assert any(note.startswith(both) for note in measurement_notes([measurement()]))
    conditions = measurement().conditions.model_copy(update={"direction": "reverse"})
    said = measurement_notes([measurement(conditions=conditions)])
    assert any(note.startswith("← right (IPv4) to left (IPv6) only. ") for note in said)


def of_media(left_mbps: int | None, right_mbps: int | None, fps: int | None) -> Measurement:
    media = {
        "left_media": Media(driver="net_ixgbe", speed_mbps=left_mbps),
        "right_media": Media(driver="net_memif", speed_mbps=right_mbps),
        "theoretical_fps": fps,
    }
    plain = measurement()
    conditions = plain.conditions.model_copy(update=media)
    return plain.model_copy(update={"conditions": conditions})


def test_the_media_and_its_theoretical_rate_are_in_every_report(tmp_path: Path) -> None:
    """RFC 2544 section 26.1: what the media could carry must stand beside a throughput."""
    fast = of_media(10_000, 2500, 3_004_807)
    assert any("The slower side carries 3,004,807 fps at " in n for n in measurement_notes([fast]))
    assert any(
        note.startswith("Media: left net_ixgbe at 10 Gb/s, right net_memif at 2500 Mb/s. The")
        for note in measurement_notes([fast])
    )
    cells = next(csv.DictReader(io.StringIO(results_csv([fast]))))
    assert (cells["left_media"], cells["left_speed_mbps"]) == ("net_ixgbe", "10000")
    assert (cells["right_speed_mbps"], cells["theoretical_fps"]) == ("2500", "3004807")
    write_results(tmp_path / "results.json", [fast])
    (entry,) = json.loads((tmp_path / "results.json").read_text())
    assert entry["left_media"] == {"driver": "net_ixgbe", "speed_mbps": 10_000}
    assert entry["theoretical_fps"] == 3_004_807


def test_media_without_a_rate_have_no_theoretical_limit() -> None:
    virtual = of_media(None, None, None)
    said = measurement_notes([virtual])
    assert any("right net_memif, which has no rate. There is no theoretical" in n for n in said)
    cells = next(csv.DictReader(io.StringIO(results_csv([virtual]))))
    assert (cells["left_media"], cells["left_speed_mbps"]) == ("net_ixgbe", "")
    assert cells["theoretical_fps"] == ""


def test_a_result_of_before_is_still_read() -> None:
    """A journal's line that says nothing of the media."""
    old = measurement().model_dump(mode="json")
    for name in ("left_media", "right_media", "theoretical_fps"):
        del old["conditions"][name]
    read = Measurement.model_validate_json(json.dumps(old))
    assert read == measurement()
    assert not any(note.startswith("Media") for note in measurement_notes([read]))
    assert next(csv.DictReader(io.StringIO(results_csv([read]))))["left_media"] == ""


CONNECTIONS = ConnectionConditions(
    initiator="right",
    count=4000,
    rate_fps=42_000,
    rate_origin="half of the establishment rate, 84,000, found first",
    order="pseudorandom",
    ranges="4,000 x 1",
    initiator_order="fixed",
    responder_order="increasing",
    table_entries=16_384,
)


def stateful(**counts: int) -> Measurement:
    plain = measurement()
    conditions = plain.conditions.model_copy(update={"connections": CONNECTIONS})
    counted = plain.counts.model_copy(update={"needed_timeout_s": 5.0} | counts)
    return plain.model_copy(update={"conditions": conditions, "counts": counted})


def test_what_rfc_9693_wants_beside_a_figure_is_said() -> None:
    said = "\n".join(measurement_notes([stateful()]))
    assert "4,000 connections at 42,000 a second (half of the establishment rate" in said
    assert "initiated on the right, in pseudorandom order from 4,000 x 1" in said
    assert "initiator uses the connections in fixed order, the responder in increasing" in said
    assert "entries 16,384, hash size unknown, timeout unknown" in said
    assert "must be more than 5 s" in said
    assert "mapping" not in said
    assert "Phase 1" not in "\n".join(measurement_notes([measurement()]))


@pytest.mark.parametrize("logging", [None, "off", "every one of them to a file"])
def test_logging_is_said_where_it_is_on(logging: str | None) -> None:
    plain = stateful()
    of = CONNECTIONS.model_copy(update={"logging": logging})
    conditions = plain.conditions.model_copy(update={"connections": of})
    logged = plain.model_copy(update={"conditions": conditions})
    said = "\n".join(measurement_notes([logged]))
    told = "The gateway logged new connections: every one of them to a file." in said
    assert told is ("logged" in said) is (logging not in (None, "off"))
    row = next(csv.DictReader(io.StringIO(results_csv([logged]))))
    assert row["connection_logging"] == (logging or "")


def test_what_happened_to_mappings_is_said() -> None:
    said = measurement_notes([stateful(changed=3, wrong=2, collided=1)])
    assert any(note.startswith("3 connections got another mapping") for note in said)
    assert any(note.startswith("2 replies were delivered to another connection") for note in said)
    assert any(note.startswith("1 of these replies were sent to an external") for note in said)


def test_csv_and_json_have_the_connections(tmp_path: Path) -> None:
    row = next(csv.DictReader(io.StringIO(results_csv([stateful(changed=3)]))))
    expected = {
        "initiator": "right",
        "connections": "4000",
        "establishment_rate_cps": "42000",
        "establishment_order": "pseudorandom",
        "connection_ranges": "4,000 x 1",
        "table_entries": "16384",
        "hash_size": "",
        "changed": "3",
        "collided": "0",
    }
    assert {name: row[name] for name in expected} == expected
    stateless = next(csv.DictReader(io.StringIO(results_csv([measurement()]))))
    assert stateless["connections"] == stateless["initiator"] == ""
    write_results(tmp_path / "results.json", [stateful(wrong=2)])
    (entry,) = json.loads((tmp_path / "results.json").read_text())
    assert entry["connections"]["count"] == 4000
    assert (entry["wrong"], entry["needed_timeout_s"]) == (2, 5.0)


def test_counts_of_several_measurements_are_summed_and_times_are_not() -> None:
    one = TrialCounts(trials=2, changed=1, worst_lateness_ns=5.0, needed_timeout_s=9.0)
    other = TrialCounts(trials=3, changed=4, worst_lateness_ns=7.0, needed_timeout_s=3.0)
    assert TrialCounts.total([one, other]) == TrialCounts(
        trials=5, changed=5, worst_lateness_ns=7.0, needed_timeout_s=9.0
    )
    assert TrialCounts.total([]) == TrialCounts()


def test_what_noise_did_to_the_valid_trials_stands_under_the_table() -> None:
    of = Disturbance(sending_ns=2e9, paused_ns=1e7, away_ns=6e7, longest_away_ns=5.1e6)
    assert list(noise_notes(TrialCounts(trials=4, invalid_trials=1, disturbance=of))) == [
        "1 of 4 trials (25 %) were invalid. They were repeated or left out.",
        "In valid trials, the gateway did not have its CPU for 3 % of the time: 60 ms in all, at "
        "most 5.10 ms at once.",
        "In valid trials, the tester's senders paused for 0.5 % of the time.",
    ]
    assert list(noise_notes(TrialCounts(trials=4))) == []
    both = TrialCounts.total([TrialCounts(disturbance=of), TrialCounts(disturbance=of)])
    assert both.disturbance.away_ns == 1.2e8
    assert both.disturbance.longest_away_ns == 5.1e6


def test_the_program_that_had_the_gateways_cpu_is_named() -> None:
    one = Disturbance(sending_ns=1e9, away_ns=3e8, taken_ns={"vs (7)": 1e8, "cc (8)": 9e7})
    other = Disturbance(sending_ns=1e9, away_ns=1e8, taken_ns={"cc (8)": 1.2e8})
    counts = TrialCounts.total([TrialCounts(disturbance=one), TrialCounts(disturbance=other)])
    (said,) = noise_notes(counts)
    assert "Most of it had cc (8); if this is the gateway's, name it in dut.processes." in said
    assert brief_notes([measurement(counts=counts)], set()) == [
        "cc (8) had the gateway's CPU for 20 % of the time: is it the gateway's?"
    ]
    (alone,) = noise_notes(TrialCounts(disturbance=one))
    assert "Most of it" not in alone


def test_results_json_has_what_noise_did_to_the_valid_trials(tmp_path: Path) -> None:
    of = Disturbance(sending_ns=2e9, paused_ns=1e7, away_ns=6e7, longest_away_ns=5.1e6)
    write_results(tmp_path / "results.json", [measurement(counts=TrialCounts(disturbance=of))])
    (entry,) = json.loads((tmp_path / "results.json").read_text())
    said = entry["disturbance"]
    assert (said["sending_ns"], said["paused_ns"]) == (2e9, 1e7)
    assert (said["away_ns"], said["longest_away_ns"]) == (6e7, 5.1e6)


def test_a_gateway_that_could_not_be_watched_is_named_with_the_reason() -> None:
    blind = Disturbance(sending_ns=1e9, unwatched_reason="CPU 1: perf_event_open: not permitted")
    of = Disturbance.total([Disturbance(sending_ns=1e9), blind, blind])
    (said,) = noise_notes(TrialCounts(trials=3, disturbance=of))
    assert "could not be watched (CPU 1: perf_event_open: not permitted)" in said


def test_other_users_of_the_cpus_are_named_once_and_not_without_end() -> None:
    said = [f"CPU 1 of the gateway was also used by process {pid}" for pid in range(5)]
    trials = [Disturbance(sending_ns=1e9, shared_cpus=(each,)) for each in (*said, said[0])]
    (note,) = noise_notes(TrialCounts(trials=6, disturbance=Disturbance.total(trials)))
    assert note == (
        f"In valid trials, {said[0]}; {said[1]}; {said[2]}; and 2 more. This can lower the figures."
    )


@pytest.mark.parametrize(("value", "text"), [(0.9587, "0.9587"), (1.0, "1"), (1.79, "1.79")])
def test_a_ratio_has_more_than_one_digit(value: float, text: str) -> None:
    assert quantity(value, "times") == text


def test_rates_that_are_lower_bounds_can_be_told_from_others() -> None:
    assert [BOUND.bound(rate) for rate in BOUND.values] == ["lower", "exact"]
