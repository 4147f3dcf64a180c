"""Remarks under a throughput of bursty traffic (RFC 2544 section 21)."""

from natxy.trial.bursts import Bursts
from natxy.trial.setup import ReadyTester


def burst_remarks(bursts: Bursts | None, tester: ReadyTester) -> tuple[str, ...]:
    """Returns how bursts were sent; empty for steady traffic."""
    if bursts is None:
        return ()
    frames = bursts.frames
    said = [
        f"Bursts of {frames:,} frames at {bursts.rate_of(tester):,} fps; throughput is the "
        "mean rate over bursts and silence, and the least interval is burst / throughput (RFC 2544 "
        "section 21)."
    ]
    ring_frames = min((port.rx_ring_frames for port in tester.hello.ports), default=0)
    if frames > ring_frames > 0:
        said.append(
            f"A burst of {frames:,} frames is longer than the tester's ring ({ring_frames:,} "
            "frames): a trial in which the ring may have been full is invalid, not failed."
        )
    return tuple(said)


def why_nothing_passed(bursts: Bursts | None, least_fps: int) -> str:
    if bursts is None:
        return "frames were lost at every rate tried"
    every_s = bursts.frames / least_fps
    return f"the lowest rate tried is {least_fps:,} fps, one burst every {every_s:.3g} s"
