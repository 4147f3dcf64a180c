#!/usr/bin/env python3
"""An engine that is a script: it speaks the protocol and has a gateway of known capacity.

FAKE_CAPACITY_FPS: above it, frames are lost. FAKE_LIMIT_FPS: above it, trials are invalid.
FAKE_INVALID_TRIALS: so many trials are invalid before the first valid one, not for their rate.
FAKE_MODE: what it does wrong.
"""

import json
import os
import struct
import sys
import threading
import time
from typing import Any

Json = dict[str, Any]

CAPACITY_FPS = int(os.environ.get("FAKE_CAPACITY_FPS", "50000"))
LIMIT_FPS = int(os.environ.get("FAKE_LIMIT_FPS", "1000000"))
LINK_MBPS = int(os.environ.get("FAKE_LINK_MBPS", "0"))
INVALID_TRIALS = int(os.environ.get("FAKE_INVALID_TRIALS", "0"))
MODE = os.environ.get("FAKE_MODE", "")
# All members of each event, with values that say nothing.
with open(os.path.dirname(__file__) + "/../../schemas/examples/events.json") as file:
    EVENTS: Json = json.load(file)
RESULT: Json = EVENTS["result"]["result"]
STREAM: Json = RESULT["streams"][0]
KIND: Json = STREAM["kinds"]["foreground"]
PORT: Json = RESULT["ports"][0]


def say(event: Json) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def hello() -> None:
    port = {
        **EVENTS["hello"]["ports"][0],
        "driver": "fake",
        "interface": None,
        "device": "fake",
        "mac": "02:00:00:00:00:01",
        "mtu_bytes": 1500,
        "link_speed_mbps": LINK_MBPS,
        "rx_ring_frames": 2048,
        "numa_node": -1,
    }
    say(
        {
            **EVENTS["hello"],
            "protocol": 2 if MODE == "other-protocol" else 1,
            "engine_version": "0",
            "dpdk_version": "none",
            "variant": "none",
            "tsc_hz": 10**9,
            "tsc_invariant": True,
            "realtime_allowed": True,
            "cpu_model": "fake",
            "kernel": "fake",
            "main_cpus": [0],
            "ports": [{**port, "side": side} for side in ("left", "right")],
        }
    )


def distribution(count: int, lowest: float, highest: float) -> Json:
    names = ("mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns")
    middle = dict.fromkeys(names, (lowest + highest) / 2)
    buckets = [[lowest, lowest, count - 1], [highest, highest, 1]] if count > 1 else []
    return {"count": count, "min_ns": lowest, "max_ns": highest, "buckets": buckets, **middle}


def variation(asked: bool, pairs: int) -> Json | None:
    return {"undefined": 1, "distribution": distribution(pairs, -500.0, 700.0)} if asked else None


def write_records(spec: Json) -> None:
    """Of each frame that came, with a delay that tells its number."""
    fd = int(sys.argv[sys.argv.index("--records-fd") + 1])
    for stream in spec["phases"][0]["streams"]:
        direction = ("forward", "reverse").index(stream["direction"])
        for number in range(sum(segment["frames"] for segment in stream["segments"])):
            octets = (0, direction, 0, 0, spec["nonce"])
            os.write(fd, struct.pack("<QddBBBBI", number, number * 10.0, 1000.0 + number, *octets))


def counters(sent: int, lost: int, recording: Json) -> Json:
    return {
        **KIND,
        "sent": sent,
        "received": sent - lost,
        "lost": lost,
        "hop_limit": 63,
        "delay": distribution(sent - lost, 1000.0, 90000.0),
        "ipdv": variation(recording["ipdv"], sent - 1 - lost),
    }


def losses(lost: int) -> Json | None:
    times = ("first_due_ns", "last_due_ns", "longest_run_from_ns", "longest_run_until_ns")
    numbers = {"first_number": 0, "last_number": lost - 1, "gaps": 1, "longest_run": lost}
    return {"frames": lost, **numbers, **dict.fromkeys(times, 0.0)} if lost else None


def tags(asked: Json | None, frames: int) -> Json | None:
    if asked is None:
        return None
    count = min(asked["count"], frames)
    delays = [1000] * (count - 1) + [90_000]
    arrived = [[number, delay, 0] for number, delay in enumerate(delays)]
    return {"sent": count, "received": count, "lost": 0, "arrived": arrived}


def stream_result(stream: Json, recording: Json) -> Json:
    frames = sum(segment["frames"] for segment in stream["segments"])
    rate = stream["segments"][0]["rate_fps"]
    kind = "foreground" if stream["foreground"] else "background"
    kinds: Json = {"foreground": None, "background": None}
    lost = 1 if rate > CAPACITY_FPS else 0
    if MODE == "one-way" and stream["direction"] == "forward":
        lost = frames
    kinds[kind] = counters(frames, lost, recording)
    return {
        **STREAM,
        "phase": "test",
        "direction": stream["direction"],
        "due": frames,
        "senders": 1,
        "largest_burst": 1,
        "sending_ns": 1e6,
        "lateness": distribution(frames, 0.0, 1500.0),
        "send_call": distribution(frames, 100.0, 200.0),
        "kinds": kinds,
        "tags": tags(recording["tags"], frames),
        "losses": losses(lost),
        "silence": {"from_ns": 0.0, "until_ns": 1000.0},
        "connections": None,
    }


def port_result(side: str, *, slow: bool) -> Json:
    return {
        **PORT,
        "side": side,
        "kernel_rx_dropped": int(slow),
        "worst_poll_gap_ns": 1.0,
        "clock_error_ns": None,
        "icmp_errors": [],
    }


LATE = {"code": "left_late", "where": "forward", "facts": {"late_ns": 2e6, "limit_ns": 1e6}}


def result(spec: Json, trials_before: int = 0) -> Json:
    streams = spec["phases"][0]["streams"]
    slow = streams[0]["segments"][0]["rate_fps"] > LIMIT_FPS
    valid = not slow and trials_before >= INVALID_TRIALS
    return {
        **RESULT,
        "version": 3,
        "seed": spec["seed"],
        "nonce": spec["nonce"],
        "valid": valid,
        "invalid_reasons": [] if valid else [LATE],
        "connections": None,
        "preparation_ns": 1e6,
        "duration_ns": 1e6,
        "delay_definition": "none at all",
        "delay_clock": "tsc",
        "streams": [stream_result(stream, spec["recording"]) for stream in streams],
        "ports": [port_result(side, slow=slow) for side in ("left", "right")],
        **dict.fromkeys(("workers", "watched", "faults"), ()),
    }


def die() -> None:
    print("EAL: something terrible", file=sys.stderr, flush=True)
    os.kill(os.getpid(), 9)


def trial(request: Json, cancelled: threading.Event) -> None:
    number = request["id"]
    if MODE == "die":
        die()
    if MODE == "silent":
        return
    if MODE == "refuses-the-spec":
        sentence = "phases[0].streams[0].background: is missing (expected an object)"
        say({"event": "error", "id": number, "kind": "spec", "message": sentence})
        return
    progress = {"event": "progress", "id": number, "stage": "sending", "elapsed_ns": 1}
    counts = {"forward": 1, "reverse": 0}
    say({**progress, "duration_ns": 2, "sent": counts, "received": counts})
    if MODE == "deaf":
        sentence = "right: probes do not come through from left"
        say({"event": "error", "id": number, "kind": "warm-up", "message": sentence})
        return
    if MODE == "deaf-with-icmp":
        error = {"ip_version": 6, "type": 1, "code": 0, "mtu": None, "source": "2001:2::1"}
        sorts = [{"side": "left", "error": {**error, "count": 20, "example": "0a"}}]
        deaf = {"kind": "warm-up", "message": "no probe came back", "icmp_errors": sorts}
        say({"event": "error", "id": number, **deaf})
        return
    if MODE == "endless" and cancelled.wait(30):
        say({"event": "error", "id": number, "kind": "cancelled", "message": "cancelled"})
        return
    if request["spec"]["recording"]["frames"]:
        write_records(request["spec"])
    if MODE == "die-at-the-end":
        die()
    said = result(request["spec"], number - 1)
    say({"event": "result", "id": number, "result": said})


def main() -> None:
    if MODE == "no-device":
        sentence = f"{sys.argv[2]}: there is no such device"
        say({"event": "error", "kind": "device", "message": sentence})
        sys.exit(2)
    if MODE == "device-refused":
        print("EAL: Driver cannot attach", file=sys.stderr)
        print("af_xdp: Failed to create xsk", file=sys.stderr, flush=True)
        sentence = "the device cannot be created (Operation not permitted)"
        print(f"natxy-engine: {sentence}", file=sys.stderr, flush=True)
        say({"event": "error", "kind": "driver", "message": sentence})
        sys.exit(2)
    hello()
    cancelled = threading.Event()
    for line in sys.stdin:
        request = json.loads(line)
        if request["request"] == "trial":
            threading.Thread(target=trial, args=(request, cancelled)).start()
        elif request["request"] == "cancel":
            cancelled.set()
        elif MODE != "stubborn":
            break
    if MODE == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main()
