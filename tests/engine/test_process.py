"""natxy-engine as a process, over its own loop: events, exit statuses, what it leaves."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from natxy.line_process import LineProcess
from natxy.tester.tester import engine_died
from tests.programs import installed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "schemas" / "examples" / "spec"
CPU = min(os.sched_getaffinity(0))
LOOP = ["--left", "ring", "--right", "ring", "--cores", str(CPU), "--huge-pages", "never"]


def looped_spec(*, frames: int, rate_fps: int, nonce: int = 1) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads((EXAMPLES / "valid" / "macs-given.json").read_text())
    stream = spec["phases"][0]["streams"][0]
    stream["segments"] = [{"frames": frames, "rate_fps": rate_fps, "pause_ns": 0}]
    stream["foreground"]["hop_limit_drop"] = 0
    return spec | {"nonce": nonce}


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGSTOP])
def test_an_engine_that_crashed_or_hangs_leaves_no_folder_of_dpdk(number: signal.Signals) -> None:
    process = LineProcess([str(installed("natxy-engine")), *LOOP], engine_died)
    hello = json.loads(str(process.receive(30)))
    folder = Path(f"/var/run/dpdk/natxy-{process.pid}")
    is_made = folder.exists()
    os.kill(process.pid, number)
    process.close()
    assert hello["event"] == "hello"
    assert is_made == (os.geteuid() == 0)
    assert not folder.exists()
    assert not Path(f"/proc/{process.pid}").exists()


class Engine:
    def __init__(self, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [installed("natxy-engine"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:  # closes its input, on which it ends; then waits
            pass

    def say(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        event: dict[str, Any] = json.loads(self.process.stdout.readline())
        return event

    def outcome(self) -> dict[str, Any]:
        """The event that ends a trial; progress is passed over."""
        while (event := self.hear())["event"] == "progress":
            pass
        return event

    def end_of_input(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(10)

    @property
    def runtime_directory(self) -> Path:
        return Path("/var/run/dpdk") / f"natxy-{self.process.pid}"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(LOOP) as engine:
        assert engine.hear()["event"] == "hello"
        yield engine


def test_hello_tells_what_the_tester_is() -> None:
    with Engine([*LOOP, "--mtu", "2000"]) as engine:
        hello = engine.hear()
    assert hello["protocol"] == 1
    assert hello["workers"] == [{"cpu": CPU}]
    assert [port["side"] for port in hello["ports"]] == ["left", "right"]
    assert {port["mtu_bytes"] for port in hello["ports"]} == {2000}
    assert hello["tsc_hz"] > 10_000_000


def test_trials_follow_one_another_and_the_second_is_prepared_at_once(engine: Engine) -> None:
    preparations_ns = []
    for number in range(1, 7):
        spec = looped_spec(frames=2000, rate_fps=20_000, nonce=number)
        engine.say({"request": "trial", "id": number, "spec": spec})
        event = engine.outcome()
        assert event["event"] == "result", event
        assert event["id"] == number
        kind = event["result"]["streams"][0]["kinds"]["foreground"]
        assert kind["sent"] == 2000
        assert kind["misdelivered"]["total"] == kind["duplicated"] == 0
        preparations_ns.append(event["result"]["preparation_ns"])
    assert min(preparations_ns[1:]) < 50_000_000  # others may have the core in the meantime


def test_it_leaves_nothing_behind(engine: Engine) -> None:
    assert engine.runtime_directory.exists()
    assert engine.end_of_input() == 0
    assert not engine.runtime_directory.exists()


def test_quit_ends_it(engine: Engine) -> None:
    engine.say({"request": "quit"})
    assert engine.process.wait(10) == 0


def test_cancel_comes_within_a_tenth_of_a_second(engine: Engine) -> None:
    """The shortest of some: others may have the core in the meantime."""
    took_s = [cancelled_after(engine, number) for number in (1, 2)]
    while min(took_s) >= 0.1 and len(took_s) < 20:
        took_s.append(cancelled_after(engine, len(took_s) + 1))
    assert min(took_s) < 0.1
    spec = looped_spec(frames=10, rate_fps=1000, nonce=99)
    engine.say({"request": "trial", "id": 99, "spec": spec})
    assert engine.outcome()["event"] == "result"


def cancelled_after(engine: Engine, number: int) -> float:
    """Seconds from the request to the event that ends the trial."""
    spec = looped_spec(frames=6_000_000, rate_fps=100_000, nonce=number)
    engine.say({"request": "trial", "id": number, "spec": spec})
    while engine.hear().get("stage") != "sending":
        pass
    asked_s = time.monotonic()
    engine.say({"request": "cancel"})
    event = engine.outcome()
    assert (event["event"], event["kind"], event["id"]) == ("error", "cancelled", number)
    return time.monotonic() - asked_s


def test_end_of_input_ends_a_running_trial(engine: Engine) -> None:
    spec = looped_spec(frames=6_000_000, rate_fps=100_000)
    engine.say({"request": "trial", "id": 1, "spec": spec})
    while engine.hear().get("stage") != "sending":
        pass
    assert engine.end_of_input() == 0
    assert not engine.runtime_directory.exists()


def test_a_signal_ends_it_as_cleanly(engine: Engine) -> None:
    engine.process.send_signal(signal.SIGTERM)
    assert engine.process.wait(10) == 0
    assert not engine.runtime_directory.exists()


def test_it_has_a_session_of_its_own(engine: Engine) -> None:
    assert os.getsid(engine.process.pid) == engine.process.pid


def test_a_wrong_line_is_answered_and_the_engine_goes_on(engine: Engine) -> None:
    engine.say({"request": "fly"})
    assert engine.hear()["kind"] == "request"
    spec = looped_spec(frames=10, rate_fps=0)
    engine.say({"request": "trial", "id": 5, "spec": spec})
    event = engine.hear()
    assert (event["kind"], event["id"]) == ("spec", 5)
    assert event["message"].startswith("phases[0].streams[0].segments[0].rate_fps: 0 is out")
    engine.say({"request": "trial", "id": 6, "spec": looped_spec(frames=10, rate_fps=1000)})
    assert engine.outcome()["event"] == "result"


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (["--left", "ring"], "request", "--right is missing"),
        ([*LOOP[:4], "--cores", "1023"], "request", "CPU 1023"),
        (["--left", "eth0", *LOOP[2:]], "device", '"eth0" is unknown'),
        (
            ["--left", "net_af_packet0,iface=natxy-none", "--right", "net_null0", *LOOP[4:]],
            "device",
            "no network interface natxy-none",
        ),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_status_2(
    arguments: list[str], kind: str, words: str
) -> None:
    with Engine(arguments) as engine:
        event = engine.hear()
        assert engine.process.wait(10) == 2
        assert not engine.runtime_directory.exists()
    assert event["event"] == "error"
    assert event["kind"] == kind
    assert words in event["message"]
    assert "\n" not in event["message"]
