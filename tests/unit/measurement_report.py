"""What tests of measurement report share with others."""

from natxy.model.measurement import (
    Conditions,
    Figure,
    Measurement,
    TrialCounts,
)

FORWARD = Figure(name="PDV", unit="ns", direction="forward", values=(1000.0, 3000.0, 2000.0))
BOUND = Figure(
    name="throughput", unit="fps", values=(5000.0, 4000.0), lower_bound=(True, False), primary=False
)


def measurement(**changes: object) -> Measurement:
    values: dict[str, object] = {
        "procedure": "pdv",
        "title": "Packet delay variation",
        "reference": "RFC 8219 section 7.3.1",
        "conditions": Conditions(
            dut="router",
            left_ip_version=6,
            right_ip_version=4,
            direction="both",
            frame_size_bytes=84,
            n=10,
            m=9,
            rate_fps=10_000,
            duration_s=0.2,
            drain_s=0.05,
            settle_s=0.0,
            seed=7,
        ),
        "figures": (FORWARD, BOUND),
        "counts": TrialCounts(trials=4, invalid_trials=1, misdelivered=2),
    }
    return Measurement.model_validate(values | changes)
