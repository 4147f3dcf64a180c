"""The head of a report: what, with what, when, where, and whether it conforms."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.data import CampaignData, read_data
from natxy.campaign.head import SHORT, head_of
from natxy.campaign.trial_points import trial_members
from natxy.cli import run_command
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Code
from natxy.report.cell_figures import CellResult
from tests.unit.campaigns import run
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.measurement_report import measurement

ONE_SIZE = Deviation.of(Differs.FRAME_SIZES, "RFC 8219 section 5.1.1", sizes_bytes=(84,))
DRAIN = Deviation.of(Differs.DRAIN, "RFC 2544 section 23 d", has_s=0.05, asked_s=2)
GIVEN = Deviation.of(Differs.GIVEN_RATE, "RFC 8219 section 7.2")


@pytest.fixture
def data(experiment: Path, tmp_path: Path) -> CampaignData:
    run(experiment, tmp_path / "campaign")
    return read_data(tmp_path / "campaign")


def with_deviations(data: CampaignData, *deviations: Deviation, reference: str) -> CampaignData:
    result = measurement(deviations=deviations, reference=reference)
    cell = CellResult(column="a", measure="pdv", round=1, results=(result,))
    return replace(data, cells=(cell,))


@pytest.mark.parametrize(
    ("deviations", "reference", "said"),
    [
        ((), "RFC 8219 section 7.3.1", "Conforms to RFC 8219 section 7.3.1"),
        ((), "", "No RFC defines what was measured"),
        ((SHORT_TRIALS,), "RFC 8219", f"Does not conform: {SHORT_TRIALS}"),
        ((DRAIN, GIVEN), "RFC 8219", f"Does not conform: {GIVEN}; 1 more below"),
        ((GIVEN,), "RFC 8219", f"Does not conform: {GIVEN}"),
        (
            (ONE_SIZE, SHORT_TRIALS),
            "RFC 8219",
            f"Does not conform: {SHORT_TRIALS}; 1 more below",
        ),
        (
            (ONE_SIZE, GIVEN, SHORT_TRIALS),
            "RFC 8219",
            f"Does not conform: {SHORT_TRIALS}; 2 more below",
        ),
    ],
)
def test_one_sentence_says_whether_it_conforms(
    data: CampaignData, deviations: tuple[Deviation, ...], reference: str, said: str
) -> None:
    changed = with_deviations(data, *deviations, reference=reference)
    assert head_of(changed)["Conformity"] == said


def test_it_says_which_gateway_when_where_and_by_which_command(data: CampaignData) -> None:
    begun, ended = "2026-11-30T04:26:00+00:00", "2026-11-30T04:29:20+00:00"
    head = head_of(replace(data, started=begun, ended=ended))
    assert head["When"] == "2026-11-30 04:26 UTC, took 3 min 20 s"
    assert head["Command"] == "natxy run"
    assert head["Gateway"] == "the gateway"
    machine = next(iter(data.machines.values()))
    host, tester = machine["host"], machine["tester"]
    variant = f"engine for {tester['variant']}"
    for known in (host["name"], host["system"], "CPU", tester["cpu_model"], variant):
        assert known in head["Tester"]
    (trials,) = {len(data.trials)}
    assert head["Trials"] == (f"{trials:,}, all valid; 8 of 8 cells; seed 7")


def test_a_campaign_whose_cells_failed_does_not_just_conform(data: CampaignData) -> None:
    good = with_deviations(data, reference="RFC 8219").cells
    bad = CellResult(column="b", measure="pdv", round=1, results=(), error="it died")
    failed = replace(data, cells=(*good, bad))
    assert head_of(failed)["Conformity"] == "1 of 8 cells failed; conforms to RFC 8219"
    assert head_of(replace(data, cells=(bad,)))["Conformity"] == "1 of 8 cells failed"


def test_it_says_of_each_column_which_gateway_it_has(data: CampaignData) -> None:
    duts = {"84 B": {"name": "a", "software": "tayga 0.9.2"}, "512 B": {"name": "b", "kernel": "6"}}
    duts["512 B"]["gateway_cpu"] = "1"
    machine = {
        "gateways": [
            {"dut": dut, "cells": [f"{measure}, {column}"]}
            for measure in ("throughput", "pdv")
            for column, dut in duts.items()
        ]
    }
    head = head_of(replace(data, machines={"": machine}))
    assert head["Gateways"] == "84 B: a (tayga 0.9.2)\n512 B: b (6; CPU 1 of the tester's machine)"
    assert head["Traffic"].startswith(
        "IPv6 to IPv4, both directions at once, 84 or 512 B (as IPv6)"
    )


def test_it_says_how_often_which_reason_made_a_trial_invalid(data: CampaignData) -> None:
    codes = ["left_late"] * 2 + ["core_shared"] * 3 + ["gave_up_late"] * 2 + [""]
    points = [
        replace(data.trials[0], verdict="INVALID" if code else "FAIL", code=code) for code in codes
    ]
    assert head_of(replace(data, trials=tuple(points)))["Trials"].startswith(
        "8, of which 7 are invalid and do not count "
        "(4 x a frame left late, 3 x the host shared a core); "
    )


def test_the_reason_that_explains_the_others_is_counted() -> None:
    late = {"code": "left_late", "where": "", "facts": {"late_ns": 2, "limit_ns": 1}}
    reasons = [late, {"code": "link_down", "where": "left", "facts": {}}]
    record: dict[str, Any] = {
        **dict.fromkeys(("fail_reason", "lost_connections", "phase_1", "telemetry")),
        "invalid_reasons": reasons,
        "verdict": "INVALID",
        "away_ns": 0,
        "rate_fps": 1,
        "repetition": 1,
        "number": 1,
        "counted_fps": None,
        "result": {"streams": []},
    }
    assert trial_members(record)["code"] == "link_down"


def test_each_reason_has_short_words() -> None:
    assert set(SHORT) == set(Code) - {Code.HELD_BACK, Code.PORT_SLOW}, "those are of failed trials"


def sent(**changes: object) -> Measurement:
    result = measurement()
    conditions = result.conditions.model_copy(update=changes)
    return result.model_copy(update={"conditions": conditions})


def test_columns_whose_traffic_differs_have_a_line_each(data: CampaignData) -> None:
    ipv4 = {"left_ip_version": 4, "right_ip_version": 4, "n": 1, "m": 1}
    ipv6 = {"left_ip_version": 6, "right_ip_version": 6, "n": 1, "m": 1}
    cells = tuple(
        CellResult(column=column, measure="pdv", round=1, results=(sent(**changes),))
        for column, changes in {"a": ipv4, "b": ipv6, "c": {**ipv4, "n": 2}, "d": ipv4}.items()
    )
    assert head_of(replace(data, cells=cells))["Traffic"].split("\n") == [
        "a; d: IPv4 to IPv4, both directions at once, 64 B (84 B as IPv6)",
        "b: IPv6 to IPv6, both directions at once, 84 B (as IPv6)",
        "c: IPv4 to IPv4, both directions at once, 84 B (as IPv6), 50 % foreground",
    ]


def test_it_says_which_clause_defines_the_test(data: CampaignData) -> None:
    known = with_deviations(data, reference="RFC 8219 section 7.3.1")
    title = known.cells[0].results[0].title
    assert head_of(known)["Test"] == f"{title} (RFC 8219 section 7.3.1)"
    assert head_of(with_deviations(data, reference=""))["Test"] == title


def test_a_campaign_without_a_result_says_nothing_of_conformity(data: CampaignData) -> None:
    assert head_of(replace(data, cells=()))["Conformity"] == ""


@pytest.mark.usefixtures("engine")
def test_a_single_measurement_has_a_head_as_well(
    testbed_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [str(testbed_file), "--rate", "1000", "--profile", "quick", "--duration", "0.01"]
    words += ["--repetitions", "1", "--seed", "3", "--output", str(tmp_path / "pdv"), "--report"]
    monkeypatch.setattr("sys.argv", ["natxy", "pdv", *words])
    assert run_command(["pdv", *words]) == 0
    data = read_data(tmp_path / "pdv")
    head = head_of(data)
    assert head["Command"].startswith("natxy ")
    assert " UTC" in head["When"]
    assert head["Traffic"] == "IPv6 to IPv4, both directions at once, 84 B (as IPv6)"
    assert head["Gateway"]
    assert "; seed 3" in head["Trials"]
    assert ", took " in head["When"]
    assert f"{testbed_file}, with its defaults, as JSON" in data.files
    page = (tmp_path / "pdv" / "report" / "report.html").read_text()
    for name in ("Gateway", "Tester", "When", "Command", "Conformity", "Trials"):
        assert f"<dt>{name}</dt>" in page
