"""results.json: a list of results, flat, for programs that read them."""

import contextlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from natxy.errors import StorageError
from natxy.model.throughput_result import ThroughputResult
from natxy.statistics import median

FILE_NAME = "results.json"


def result_entry(result: ThroughputResult) -> dict[str, Any]:
    rate_fps = median(result.rates_fps)
    return {
        "dut": result.dut,
        "procedure": result.record,
        "frame_size_bytes": result.frame_size_bytes,
        "direction": result.direction,
        "duration_s": result.duration_s,
        "repetitions": len(result.repetitions),
        "error_fps": result.error_fps,
        "seed": result.seed,
        "rate_fps_per_direction": rate_fps,
        "bound": "lower" if result.is_lower_bound(rate_fps) else "exact",
        "misdelivered": result.misdelivered,
        "duplicated": result.duplicated,
        "invalid_trials": result.invalid_trials,
        "worst_lateness_us": result.worst_lateness_ns / 1000,
    }


def write_results(path: Path, results: Sequence[ThroughputResult]) -> None:
    """All of it or nothing: a reader never sees half a file."""
    text = json.dumps([result_entry(result) for result in results], indent=2) + "\n"
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from None
