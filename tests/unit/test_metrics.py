"""What `natxy serve` tells Prometheus, as Prometheus' own reader of OpenMetrics sees it."""

import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import Journal, read_journal
from natxy.cli.metrics import metrics
from natxy.cli.serve import served
from tests.unit.campaigns import EXPERIMENT, run
from tests.unit.serve import running

Samples = Mapping[str, list[tuple[Mapping[str, str], float]]]


def read(text: str) -> Samples:
    """Returns the samples by their names; the reader refuses what the format does not allow."""
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(samples: Samples, name: str, **labels: str) -> float:
    """Returns the value of the one sample that has these labels."""
    (found,) = (each for known, each in samples[name] if labels.items() <= known.items())
    return found


def now(samples: Samples) -> str:
    (found,) = (labels["natxy_state"] for labels, on in samples["natxy_state"] if on)
    return found


@pytest.fixture
def folder(experiment: Path, tmp_path: Path) -> CampaignFolder:
    run(experiment, tmp_path / "campaign")
    return CampaignFolder(path=tmp_path / "campaign")


def test_a_campaign_that_has_ended_tells_its_figures(folder: CampaignFolder) -> None:
    with (
        running(served(folder.path)) as address,
        urllib.request.urlopen(f"{address}/metrics", timeout=30) as answer,
    ):
        kind = answer.headers["Content-Type"]
        samples = read(answer.read().decode())
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert now(samples) == "ended"
    (info,) = samples["natxy_campaign_info"]
    assert info[0]["title"] == "Throughput and loss over the frame size"
    cells = [value(samples, f"natxy_cells_{each}") for each in ("planned", "ended", "failed")]
    assert cells == [8, 8, 0]
    rate = {"column": "84 B", "measure": "throughput", "figure": "throughput", "unit": "fps"}
    assert value(samples, "natxy_figure", **rate, bound="exact", direction="") == 50_000
    delays = {"measure": "pdv", "figure": "PDV", "column": "512 B", "unit": "ns"}
    assert value(samples, "natxy_figure", **delays, direction="forward") == 89_000
    assert value(samples, "natxy_frames_total", column="84 B", measure="pdv", event="lost") == 0
    lost = {"column": "84 B", "measure": "throughput", "event": "lost"}
    assert value(samples, "natxy_frames_total", **lost) > 0, "its search loses frames"


def stopped_in_a_trial(campaign: CampaignFolder, measure: str, **changes: object) -> int:
    """Ends the journal in the last cell of a measurement, with a changed trial; returns how many
    trials are left."""
    records = list(read_journal(campaign.journal))
    cells = [place for place, each in enumerate(records) if each.get("measure") == measure]
    end = next(
        place for place in range(cells[-1], len(records)) if records[place]["record"] == "trial"
    )
    trials = sum(1 for each in records[: end + 1] if each["record"] == "trial")
    with Journal(campaign.journal, records[0], replace=True) as journal:
        journal.append_written([*records[1:end], {**records[end], **changes}])
    return trials


def test_a_campaign_that_runs_counts_its_trials(folder: CampaignFolder) -> None:
    trials = stopped_in_a_trial(folder, "throughput", verdict="INVALID")
    with folder.locked():
        samples = read(metrics(folder))
    assert now(samples) == "running"
    assert value(samples, "natxy_cells_ended") == 7
    assert value(samples, "natxy_trials_total") == trials
    assert value(samples, "natxy_invalid_trials_total") == 1
    assert not [name for name in samples if name.startswith("natxy_trial_")]
    assert now(read(metrics(folder))) == "interrupted"
    at = folder.journal.stat().st_mtime
    assert value(samples, "natxy_last_record_timestamp_seconds") == pytest.approx(at)


def test_the_last_trial_of_the_cell_that_runs_has_loss_and_delay(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "800")
    folder = CampaignFolder(path=tmp_path / "campaign")
    run(experiment, folder.path)
    stopped_in_a_trial(folder, "pdv")
    with folder.locked():
        samples = read(metrics(folder))
    of = {"measure": "pdv"}
    assert value(samples, "natxy_trial_rate_fps", **of) == 1000
    assert value(samples, "natxy_trial_lost_ratio", **of) == 0.1, "one frame of ten"
    delay = "natxy_trial_delay_seconds"
    for quantile in ("0.5", "0.999"):  # the fake engine has the mean for each
        assert value(samples, delay, **of, quantile=quantile) == pytest.approx(45.5e-6)
    assert not [each for each in read(metrics(folder)) if "natxy_trial_" in each], "none runs"


def test_a_figure_is_that_of_the_last_round(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prometheus stores it over time; a median of all rounds would hide what has changed."""
    of = {"column": "84 B", "figure": "throughput"}
    found = []
    for capacity_fps in (50_000, 20_000):
        monkeypatch.setenv("FAKE_CAPACITY_FPS", str(capacity_fps))
        campaign = CampaignFolder(path=tmp_path / str(capacity_fps))
        run(experiment, campaign.path)
        found.append(campaign)
    fast, slow = ([*read_journal(each.journal)] for each in found)
    second = [*cells_of(fast, 1), *cells_of(slow, 2)]
    with Journal(found[0].journal, fast[0], replace=True) as journal:
        journal.append_written(second)
    assert value(read(metrics(found[0])), "natxy_figure", **of) == pytest.approx(20_000, rel=0.05)


def cells_of(records: list[dict[str, object]], number: int) -> Iterator[dict[str, object]]:
    """Yields the records of the cells of a round."""
    place: object = None
    for record in records[1:]:
        place = record["round"] if record["record"] == "cell" else place
        if place == number:
            yield record


def test_a_cell_that_failed_is_counted_and_has_no_figure(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CAPACITY_FPS", "0")
    campaign = CampaignFolder(path=tmp_path / "campaign")
    run(experiment, campaign.path)
    samples = read(metrics(campaign))
    failed = value(samples, "natxy_cells_failed")
    assert failed == sum(bool(each.get("error")) for each in read_journal(campaign.journal))
    assert value(samples, "natxy_cells_ended") == 8


def test_labels_of_any_signs_are_read_as_they_were_written(
    experiment: Path, tmp_path: Path
) -> None:
    title = 'a "b" \\ c'
    text = EXPERIMENT.replace('"Throughput and loss over the frame size"', f"'{title}'")
    experiment.write_text(text.replace('label = "{} B"', "label = '\"{}\\'"))
    campaign = CampaignFolder(path=tmp_path / "campaign")
    run(experiment, campaign.path)
    samples = read(metrics(campaign))
    assert samples["natxy_campaign_info"][0][0]["title"] == title
    assert value(samples, "natxy_figure", column='"84\\', figure="throughput") == 50_000
