"""Valid attempts: a test asks for the verdict first, and repeats what the machine has spoilt.

Other programs, and the host of a virtual machine, take cores away for milliseconds. A trial that
they disturbed is invalid and says nothing of what is tested.
"""

import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from natxy.model.trial_record import TrialRecord
from natxy.trial.load import Load
from natxy.trial.trials import Trials

ATTEMPTS = 500
PATIENCE_S = 180.0
# What a command says that had too few valid trials (each TesterLimit, and siitperf's programs).
INVALID = re.compile(
    r"the test is invalid"
    r"|\d+ trials? at .* (?:was|were) invalid"
    r"|trials of .* stay invalid"
    r"|no rate passed, and at .* trials are invalid"
    r"|no rate of the series has a valid trial"
    r"|no burst at .* could be sent"
)

# A search finds the same where each core is taken away at random, so much of it in all. That takes
# several times as long, so it belongs to the long tests, and to a suite that runs in noise.
IN_NOISE = pytest.param("5%", marks=pytest.mark.long)
with_and_without_noise = pytest.mark.parametrize("noise", ["0%", IN_NOISE], indirect=True)

Result = TypeVar("Result")


def valid(attempt: Callable[[], Result], reasons: Callable[[Result], Sequence[object]]) -> Result:
    """Returns the first result that no reason speaks against, within ATTEMPTS and PATIENCE_S.

    Fails with the reasons where there is none.
    """
    seen: Counter[str] = Counter()
    begin_s = time.monotonic()
    while seen.total() < ATTEMPTS and time.monotonic() - begin_s < PATIENCE_S:
        result = attempt()
        against = reasons(result)
        if not against:
            return result
        seen[re.sub(r"\d[\d.,]*", "N", str(against[0]))] += 1
    counted = "; ".join(f"{count} x {reason}" for reason, count in seen.most_common(3))
    pytest.fail(
        f"none of {seen.total()} attempts in {time.monotonic() - begin_s:.0f} s was valid: "
        f"{counted}; the last: {against[0]}"
    )


def valid_trial(trials: Trials, load: Load | int, *, seed: int = 1) -> TrialRecord:
    return valid(
        lambda: trials.run(load=load, repetition=1, seed=seed),
        lambda trial: trial.invalid_reasons,
    )


Done = subprocess.CompletedProcess[str]


def valid_run(command: Callable[[], Done]) -> Done:
    """Repeats a command that ended because its trials stayed invalid."""
    return valid(command, lambda done: INVALID.findall(done.stdout + done.stderr))
