"""Distributions of delays in HdrHistogram's text format."""

import re
from pathlib import Path

from natxy.campaign.data import read_data
from natxy.campaign.delay_curves import DelayCurve
from natxy.campaign.delay_files import HEAD, percentile_text, write_delays
from natxy.campaign.report import write_report
from tests.unit.campaigns import run

# Buckets of 1 µs with ten frames each, up to 100 µs.
EVEN = [(at * 1000.0, at * 1000.0 + 1000, 10) for at in range(100)]
LINE = re.compile(r" *([\d.]+) ([\d.]+) +(\d+)(?: +([\d.]+))?")


def lines_of(text: str) -> list[tuple[float, float, int]]:
    """Returns value, percentile and count of each line, as a reader of the format takes them."""
    found = [LINE.fullmatch(line) for line in text.splitlines() if line[:1] == " "]
    return [(float(of[1]), float(of[2]), int(of[3])) for of in found if of]


def test_a_percentile_is_the_delay_that_a_share_of_the_frames_has_at_most() -> None:
    found = lines_of(percentile_text(EVEN))
    assert [each for each in found if each[1] in (0.0, 0.5, 0.75, 0.9, 1.0)] == [
        (1.0, 0.0, 10),
        (50.0, 0.5, 500),
        (75.0, 0.75, 750),
        (90.0, 0.9, 900),
        (100.0, 1.0, 1000),
    ]
    for value, share, count in found:
        assert count >= share * 1000
        assert value * 10 == count


def test_each_half_of_the_distance_to_all_frames_has_five_lines() -> None:
    """As HdrHistogram's library writes them by default."""
    shares = [share for _, share, _ in lines_of(percentile_text(EVEN))]
    assert shares == sorted(shares)
    for low, high in ((0.0, 0.5), (0.5, 0.75), (0.75, 0.875)):
        assert len([share for share in shares if low <= share < high]) == 5


def test_the_lines_are_those_of_the_format() -> None:
    made = percentile_text(EVEN, "pdv, router", "", "Scaled\ndown").splitlines()
    assert made[0] == "       Value     Percentile TotalCount 1/(1-Percentile)"
    assert made[1] == ""
    assert made[0] + "\n" == HEAD
    assert made[2] == "       1.000 0.000000000000         10           1.00"
    assert made[-6] == "     100.000 1.000000000000       1000", "the last has no distance left"
    assert made[-5:] == [
        "#[Mean    =       50.000, StdDeviation   =       28.866]",
        "#[Max     =      100.000, Total count    =         1000]",
        "#[Buckets =          100, SubBuckets     =            1]",
        "# pdv, router",
        "# Scaled down",
    ]


def test_one_bucket_has_all_percentiles() -> None:
    assert lines_of(percentile_text([(1000.0, 2000.0, 3)])) == [(2.0, 0.0, 3), (2.0, 1.0, 3)]


def test_a_report_has_a_file_for_each_distribution(experiment: Path, tmp_path: Path) -> None:
    run(experiment, tmp_path / "campaign")
    write_report(read_data(tmp_path / "campaign"), tmp_path / "report", html=False)
    files = sorted(path.name for path in (tmp_path / "report" / "data").glob("*.hgrm"))
    assert files == sorted(
        f"delays-pdv-{size}-B-{way}.hgrm" for size in (84, 512) for way in ("forward", "reverse")
    )
    curve = read_data(tmp_path / "campaign").delays[0]
    text = (tmp_path / "report" / "data" / "delays-pdv-84-B-forward.hgrm").read_text()
    *_, (value, share, count) = lines_of(text)
    assert (value * 1000, share, count) == (
        curve.buckets[-1][1],
        1.0,
        sum(frames for *_, frames in curve.buckets),
    )
    assert text.splitlines()[-2:] == [
        "# pdv, 84 B, forward",
        "# Throughput and loss over the frame size",
    ]


def test_labels_that_are_one_name_of_a_file_have_a_file_each(tmp_path: Path) -> None:
    curves = [
        DelayCurve(
            column=column,
            measure="pdv",
            series="",
            direction="forward",
            points=(),
            buckets=((1.0, 2.0, 1),),
        )
        for column in ("IPv4 UDP", "IPv4-UDP")
    ]
    write_delays(curves, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "delays-pdv-IPv4-UDP-forward-2.hgrm",
        "delays-pdv-IPv4-UDP-forward.hgrm",
    ]
