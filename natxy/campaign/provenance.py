"""Collects the provenance of a result: all that another person needs to repeat it."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import natxy
from natxy.trial.session import Session


def provenance(session: Session, *, seed: int | None, command: Sequence[str]) -> dict[str, Any]:
    return {
        "natxy_version": natxy.__version__,
        "command": list(command),
        "seed": seed,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": _host(),
        "testbed": session.testbed.model_dump(mode="json"),
        "dut": session.dut.describe(),
        "tester": session.hello.model_dump(mode="json"),
    }


def _host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "load_average": list(os.getloadavg()),
    }
