"""The fake engine as a program: it speaks the engine's protocol, and imports nothing of Natxy's.

Its environment: FAKE_CAPACITY_FPS: above it, frames are lost. FAKE_LIMIT_FPS: above it, trials are
invalid. FAKE_INVALID_TRIALS: so many trials are invalid before the first valid one, not for their
rate. FAKE_LINK_MBPS: of both ports. FAKE_MODE: what it does wrong.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.unit.fake_engine import (
    EVENTS,
    LATE,
    FakeEngine,
    Json,
    distribution,
    first_above,
    frames_in,
)

if TYPE_CHECKING:
    from natxy.model.trial_spec import Stream, TrialSpec

MODE = os.environ.get("FAKE_MODE", "")


def number_of(name: str, default: int) -> int:
    return int(os.environ.get(f"FAKE_{name}", default))


def of_the_environment() -> FakeEngine:
    def lose(stream: Stream) -> Sequence[int]:
        if MODE == "one-way" and stream.direction == "forward":
            return range(frames_in(stream))
        return first_above(number_of("CAPACITY_FPS", 50_000))(stream)

    def invalid(_: TrialSpec) -> Json | None:
        return LATE if engine.trials <= number_of("INVALID_TRIALS", 0) else None

    def unlisted(stream: Stream) -> Json:
        """A loss whose place in the trial nobody knows: it counts."""
        late = distribution(frames_in(stream), 0.0, 1500.0)
        return {"lateness": late, "lost_runs": []}

    engine = FakeEngine(
        lose=lose,
        invalid=invalid,
        too_slow=False,
        limit_fps=number_of("LIMIT_FPS", 10**6),
        link_mbps=number_of("LINK_MBPS", 0),
        delays_ns=lambda _: (1000.0, 90_000.0),
        members=unlisted,
        watches=False,
    )
    return engine


def say(event: Json) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def refuse(kind: str, message: str, **members: Any) -> None:
    say({"event": "error", "kind": kind, "message": message, **members})


def die() -> None:
    print("EAL: something terrible", file=sys.stderr, flush=True)
    os.kill(os.getpid(), 9)


def write_records(spec: TrialSpec) -> None:
    """Of each frame that came, with a delay that tells its number."""
    fd = int(sys.argv[sys.argv.index("--records-fd") + 1])
    for stream in spec.phases[0].streams:
        octets = (0, ("forward", "reverse").index(stream.direction), 0, 0, spec.nonce)
        for number in range(frames_in(stream)):
            os.write(fd, struct.pack("<QddBBBBI", number, number * 10.0, 1000.0 + number, *octets))


ICMP_ERROR = {"ip_version": 6, "type": 1, "code": 0, "mtu": None, "source": "2001:2::1"}
REFUSALS: dict[str, Json] = {
    "refuses-the-spec": {
        "kind": "spec",
        "message": "phases[0].streams[0].background: is missing (expected an object)",
    },
    "deaf": {"kind": "warm-up", "message": "right: probes do not come through from left"},
    "deaf-with-icmp": {
        "kind": "warm-up",
        "message": "no probe came back",
        "icmp_errors": [{"side": "left", "error": {**ICMP_ERROR, "count": 20, "example": "0a"}}],
    },
}


def trial(engine: FakeEngine, number: int, spec: TrialSpec, cancelled: threading.Event) -> None:
    if MODE == "die":
        die()
    if MODE == "silent":
        return
    say({**EVENTS["progress"], "id": number, "stage": "sending", "elapsed_ns": 1, "duration_ns": 2})
    if MODE in REFUSALS:
        refuse(id=number, **REFUSALS[MODE])
    elif MODE == "endless" and cancelled.wait(30):
        refuse("cancelled", "cancelled", id=number)
    else:
        if spec.recording.frames:
            write_records(spec)
        if MODE == "die-at-the-end":
            die()
        engine.specs.append(spec)
        say({"event": "result", "id": number, "result": engine.result(spec)})


def begin() -> None:
    if MODE == "no-device":
        refuse("device", f"{sys.argv[2]}: there is no such device")
        sys.exit(2)
    if MODE == "device-refused":
        refused = "the device cannot be created (Operation not permitted)"
        lines = ("EAL: Driver cannot attach", "af_xdp: Failed to create xsk")
        print(*lines, f"natxy-engine: {refused}", sep="\n", file=sys.stderr, flush=True)
        refuse("driver", refused)
        sys.exit(2)


def main() -> None:
    begin()
    engine, cancelled = of_the_environment(), threading.Event()
    say({**engine.greeting(), "protocol": 2 if MODE == "other-protocol" else 1})
    for line in sys.stdin:
        request = json.loads(line, object_hook=lambda members: SimpleNamespace(**members))
        if request.request == "trial":
            asked = (engine, request.id, request.spec, cancelled)
            threading.Thread(target=trial, args=asked).start()
        elif request.request == "cancel":
            cancelled.set()
        elif MODE != "stubborn":
            break
    if MODE == "stubborn":
        time.sleep(60)
