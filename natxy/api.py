"""Sets up a session with a tester and a gateway, and trial times, for programs that measure."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from natxy.dut.choice import dut_of
from natxy.dut.none import Cable
from natxy.exact import exact
from natxy.model.testbed import read_testbed
from natxy.procedure.self_test import looped
from natxy.records.extra import records_to
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import DRAIN, DURATION, FRAME_TIMEOUT, SETTLE, Timing


@contextmanager
def connect(
    testbed: str | Path, *, records: str | Path | None = None, loop: bool = False
) -> Iterator[Session]:
    """Starts the tester and the device under test of a testbed file, and stops them at the end.

    A lab is removed at the end of the block, also after an exception. `records` is a new Parquet
    file for the frames of plans with `records=True`; it is written if the block ends without an
    exception. With `loop`, a cable connects the two ports in place of the gateway, for `self_test`.
    Raises ConfigurationError if the file is wrong, DutError if the gateway cannot be started and
    DeviceError if a port cannot be used.
    """
    written, source = read_testbed(Path(testbed))
    dut = Cable() if loop else dut_of(written, source)
    if loop:
        written = looped(written)
    with (
        records_to(None if records is None else Path(records)) as kept,
        set_up(written, source, dut, kept) as session,
    ):
        yield session


def timing(
    duration: float, drain: float = 2.0, settle: float = 0.0, frame_timeout: float = 0.0
) -> Timing:
    """Returns the times of each trial, in seconds; 0.2 is exactly a fifth (RFC 2544 section 23).

    `duration` is the time of sending, `drain` the time of receiving after it, `settle` the pause
    between two trials, and `frame_timeout` the delay above which a frame counts as late (0: no
    limit).
    """
    return Timing(
        duration_s=exact(DURATION, duration),
        drain_s=exact(DRAIN, drain),
        settle_s=exact(SETTLE, settle),
        frame_timeout_s=exact(FRAME_TIMEOUT, frame_timeout),
    )
