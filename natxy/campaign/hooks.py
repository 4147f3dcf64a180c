"""Runs the commands of an experiment. No shell reads them."""

import shlex
import subprocess
import time
from collections.abc import Sequence

from natxy.campaign.records import HookRecord
from natxy.errors import DutError
from natxy.program_output import OutputTooLong, run

SHOWN = 2000  # characters of a command's output that the journal keeps


def run_hook(when: str, command: Sequence[str], timeout_s: float) -> HookRecord:
    """Runs a command to its end; raises DutError if it cannot be started or takes too long."""
    begin_s = time.monotonic()
    try:
        done = run(command, timeout_s=timeout_s, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        raise DutError(
            f"{when}: `{shlex.join(command)}` did not end within {timeout_s:g} s"
        ) from None
    except OutputTooLong as error:
        raise DutError(f"{when}: `{shlex.join(command)}` {error}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DutError(f"{when}: `{shlex.join(command)}` cannot be run: {reason}") from None
    return HookRecord(
        when=when,
        command=tuple(command),
        status=done.status,
        output=done.output[-SHOWN:],
        seconds=time.monotonic() - begin_s,
    )


def check_hook(hook: HookRecord) -> None:
    """Raises DutError if the command failed."""
    if hook.status != 0:
        last = hook.output.strip().splitlines()[-1:] or ["no output"]
        raise DutError(
            f"{hook.when}: `{shlex.join(hook.command)}` ended with status {hook.status}: {last[0]}"
        )
