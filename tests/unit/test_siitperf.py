"""siitperf's three commands against the fake engine: what they print, and when."""

import json
import re
from pathlib import Path

import pytest

from natxy.cli import arguments_of
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult
from natxy.siitperf.arguments import Arguments
from natxy.siitperf.lines import missing_figures, result_lines
from tests.unit.fake_engine import KIND, STREAM, Json
from tests.unit.results import result_of
from tests.unit.siitperf import CONF, PLACE, free_of_info, siitperf

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def place(tmp_path: Path, engine: list[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("siitperf.conf").write_text(CONF)
    Path("place.toml").write_text(PLACE)
    monkeypatch.setenv("NATXY_TESTBED", "place.toml")
    return tmp_path


def test_tp_prints_frames_sent_and_received(place: Path, capsys: Captured) -> None:
    assert siitperf("tp 84 1000 2 0 2 2") == 0
    captured = capsys.readouterr()
    assert free_of_info(captured.out) == [
        "Forward frames sent: 2000",
        "Forward frames received: 2000",
        "Reverse frames sent: 2000",
        "Reverse frames received: 2000",
    ]
    assert captured.err.splitlines() == [
        "Warning: MAC-L-Tester: a0:36:9f:c5:fa:1c is ignored: the port has 02:00:00:00:00:01"
    ]


def test_lost_frames_are_no_failure_of_the_test(place: Path, capsys: Captured) -> None:
    assert siitperf("tp 84 60000 1 0 2 2") == 0
    assert "Forward frames received: 59999" in capsys.readouterr().out.splitlines()


def test_one_direction_has_its_own_lines_alone(place: Path, capsys: Captured) -> None:
    Path("siitperf.conf").write_text(CONF + "Forward 0\n")
    assert siitperf("tp 84 1000 1 0 2 2") == 0
    out = capsys.readouterr().out
    assert "Reverse frames sent: 1000" in out
    assert "Forward" not in out


def test_sixty_four_bits_are_enough(place: Path, capsys: Captured) -> None:
    """3600 s of 1,488,095 frames a second are more than 32 bits hold."""
    assert siitperf("tp 84 1488095 3600 0 2 2") == 1  # the fake's limit is 1 Mfps
    assert siitperf("tp 84 999999 3600 0 2 2") == 0
    assert "Forward frames sent: 3599996400" in capsys.readouterr().out.splitlines()


def test_lat_prints_milliseconds(place: Path, capsys: Captured) -> None:
    """The fake's delays are 1 us, and one of 90 us."""
    assert siitperf("lat 84 1000 2 0 2 2 1 500") == 0
    lines = free_of_info(capsys.readouterr().out)
    assert lines[4:] == [
        "Forward TL: 0.001000",
        "Forward WCL: 0.090000",
        "Reverse TL: 0.001000",
        "Reverse WCL: 0.090000",
    ]


def test_pdv_prints_milliseconds_unless_there_is_a_frame_timeout(
    place: Path, capsys: Captured
) -> None:
    assert siitperf("pdv 84 500 1 0 2 2 0") == 0
    assert free_of_info(capsys.readouterr().out)[4:] == [
        "Forward D99_9th_perc: 0.090000",
        "Forward Dmin: 0.001000",
        "Forward Dmax: 0.090000",
        "Forward PDV: 0.089000",
        "Reverse D99_9th_perc: 0.090000",
        "Reverse Dmin: 0.001000",
        "Reverse Dmax: 0.090000",
        "Reverse PDV: 0.089000",
    ]
    assert siitperf("pdv 84 500 1 0 2 2 10") == 0
    assert "PDV" not in capsys.readouterr().out


def test_a_dead_direction_does_not_hide_the_other_ones_pdv(
    place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "one-way")
    assert siitperf("pdv 84 500 1 0 2 2 0") == 1
    lines = free_of_info(capsys.readouterr().out)
    assert lines[7] == "Reverse PDV: 0.089000"
    assert lines[8].startswith("Error: Forward: No frame arrived")
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("words", "kind", "figures"),
    [
        ("tp 84 2000000 1 0 2 2", "Info", []),
        ("lat 84 2000000 1 0 2 2 0 500", "Info", ["Reverse TL: 0.001000", "Reverse WCL: 0.090000"]),
        ("pdv 84 2000000 1 0 2 2 0", "Error", ["Reverse PDV: 0.000000"]),
        ("pdv 84 2000000 1 0 2 2 10", "Error", []),
    ],
)
def test_an_invalid_test_has_its_lines_all_the_same(
    words: str, kind: str, figures: list[str], place: Path, capsys: Captured
) -> None:
    """As siitperf has it: scripts fill the cells of a table with them."""
    assert siitperf(words) == 1
    lines = capsys.readouterr().out.splitlines()
    (said,) = (line for line in lines if "invalid" in line)
    assert said.startswith(f"{kind}: the test is invalid: forward: a frame left 2 ms after")
    counts = [line for line in lines if re.match("(Forward|Reverse) frames", line)]
    assert counts == [
        f"{side} frames {what}: {number}"
        for side in ("Forward", "Reverse")
        for what, number in (("sent", 2_000_000), ("received", 1_999_999))
    ]
    assert lines.index(said) < lines.index(counts[0])
    assert set(figures) <= set(lines)


def repeats_said(out: str) -> list[str]:
    return re.findall("^Info: Repeat .*: forward: a frame left .*$", out, re.MULTILINE)


def test_an_invalid_test_is_repeated_within_the_call(
    place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No script may take what is said of the tests before for what it looks for."""
    monkeypatch.setenv("FAKE_INVALID_TRIALS", "3")
    assert siitperf("tp 84 1000 2 0 2 2") == 0
    out = capsys.readouterr().out
    assert len(repeats_said(out)) == 3
    assert "Info: Repeat 3 of at most 5, " in out
    assert not re.search("invalid|Error", out)
    assert out.count("Forward frames received: 2000") == 1


@pytest.mark.parametrize(("section", "repeats"), [("", 5), ("repeats = 0", 0), ("repeats = 2", 2)])
def test_repeats_have_an_end(
    section: str,
    repeats: int,
    place: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAKE_INVALID_TRIALS", "100")
    Path("place.toml").write_text(f"{PLACE}[siitperf]\n{section}\n")
    assert siitperf("tp 84 1000 2 0 2 2") == 1
    out = capsys.readouterr().out
    assert len(repeats_said(out)) == repeats
    assert out.count("the test is invalid: ") == 1
    assert "Forward frames received: 2000" in out.splitlines()


def test_what_the_tester_is_too_slow_for_is_repeated_once(place: Path, capsys: Captured) -> None:
    assert siitperf("tp 84 2000000 1 0 2 2") == 1
    assert len(repeats_said(capsys.readouterr().out)) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("tp 84 1000 1 -5 2 2", 'Input Error: global timeout: "-5" is out of range'),
        ("pdv 84 1000 1 500 2 2 1500", "Input Error: frame timeout: 1500 is not less than"),
        ("tp --help", "Input Error: siitperf-tp: 1 arguments are too few"),
        (
            "xy 84 1000 1 0 2 2",
            'Input Error: siitperf: unknown test "xy" (expected tp, lat',
        ),
        ("lat 84 1000 1 0 2 2 1 500", "Input Error: delay: 1 is not before the end of the test"),
        ("tp 84 8589934592 3600 0 2 2", "Input Error: frame rate: 8589934592 is out of range"),
    ],
)
def test_wrong_input_is_a_line(words: str, sentence: str, place: Path, capsys: Captured) -> None:
    assert siitperf(words) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(sentence)


def test_a_wrong_file_is_a_line(place: Path, capsys: Captured) -> None:
    Path("siitperf.conf").write_text(CONF + "Num-L-Nets 0\n")
    assert siitperf("tp 84 1000 1 0 2 2") == 2
    out = capsys.readouterr().out
    assert out.startswith("Input Error: siitperf.conf, line 12: Num-L-Nets: ")
    Path("siitperf.conf").unlink()
    assert siitperf("tp 84 1000 1 0 2 2") == 2
    assert capsys.readouterr().out.startswith("Input Error: siitperf.conf: there is no such file")


def test_a_named_testbed_that_is_not_there_is_a_line(
    place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NATXY_TESTBED", "other.toml")
    assert siitperf("tp 84 1000 1 0 2 2") == 2
    assert capsys.readouterr().out.startswith("Input Error: other.toml: there is no such file")


def test_other_failures_are_a_line_as_well(
    place: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NATXY_ENGINE", str(place / "nothing"))
    assert siitperf("tp 84 1000 1 0 2 2") != 0
    assert re.match(r"Error: .*natxy-engine", capsys.readouterr().out)


def test_wrong_preliminary_frames_are_wrong_input(place: Path, capsys: Captured) -> None:
    Path("siitperf.conf").write_text(CONF + "Stateful 1\n")
    assert siitperf("tp 84 1000 1 0 2 2 1000 1001 1000 500 9000") == 2
    assert capsys.readouterr().out.startswith("Input Error: M: 1001 is more than")


@pytest.mark.parametrize("name", ["tp", "lat", "pdv"])
def test_a_link_by_siitperfs_name_is_the_command(name: str) -> None:
    assert arguments_of([f"./build/siitperf-{name}", "84"]) == ["siitperf", name, "84"]
    assert arguments_of(["/usr/bin/natxy", "trial", "84"]) == ["trial", "84"]
    assert arguments_of(["siitperf-dns", "trial"]) == ["trial"]


def arrived(count: int, delay_ns: float) -> Json:
    names = ("min_ns", "max_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns")
    buckets = [[delay_ns, delay_ns, count]] if count else []
    return {"count": count, "buckets": buckets, **dict.fromkeys(names, delay_ns)}


def forward_alone(counters: Json, tags: Json | None) -> TrialResult:
    kinds = {"foreground": KIND | counters, "background": None}
    stream = json.dumps(STREAM | {"phase": "test", "kinds": kinds, "tags": tags})
    return result_of(StreamResult.model_validate_json(stream))


def asked(command: str, **last: int) -> Arguments:
    """3 s, and half a second of timeout."""
    return Arguments(
        command=command,
        frame_size_bytes=84,
        rate_fps=100,
        duration_s=3,
        timeout_ms=500,
        n=2,
        m=2,
        last=last,
    )


def test_a_lost_tagged_frame_counts_as_duration_less_delay_and_timeout() -> None:
    tags = {
        "sent": 10,
        "received": 9,
        "lost": 1,
        "arrived": [[number, 10**6, 0] for number in range(9)],
    }
    lines = list(result_lines(asked("lat", tags_after_s=1, tags=10), forward_alone({}, tags)))
    assert lines[-2:] == ["Forward TL: 1.000000", "Forward WCL: 2500.000000"]


def test_tags_that_are_all_lost_have_that_delay_each() -> None:
    tags = {"sent": 3, "received": 0, "lost": 3, "arrived": []}
    lines = list(result_lines(asked("lat", tags_after_s=1, tags=3), forward_alone({}, tags)))
    assert lines[-2:] == ["Forward TL: 2500.000000", "Forward WCL: 2500.000000"]


@pytest.mark.parametrize(
    ("lost", "pdv", "longest"),
    [
        (0, "0.000000", "1.000000"),
        (1, "0.000000", "3500.000000"),
        (2, "3499.000000", "3500.000000"),
    ],
)
def test_a_lost_frame_counts_as_duration_and_timeout(lost: int, pdv: str, longest: str) -> None:
    """Of 1000 frames the 999th delay is P99.9."""
    got = 1000 - lost
    counters = {"sent": 1000, "received": got, "lost": lost, "delay": arrived(got, 1e6)}
    lines = list(result_lines(asked("pdv"), forward_alone(counters, None)))
    assert lines[-2:] == [f"Forward Dmax: {longest}", f"Forward PDV: {pdv}"]


def test_where_no_frame_came_there_is_no_pdv() -> None:
    counters = {"sent": 10, "received": 0, "lost": 10, "delay": arrived(0, 0.0)}
    result = forward_alone(counters, None)
    assert list(result_lines(asked("pdv"), result))[1:] == [
        "Forward frames sent: 10",
        "Forward frames received: 0",
    ]
    (said,) = missing_figures(asked("pdv"), result)
    assert said.startswith("Forward: No frame arrived")
