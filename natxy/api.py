"""What a program that measures needs beside the procedures: a tester at its device, and times."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from natxy.dut.base import Dut
from natxy.dut.cable import Cable
from natxy.dut.choice import dut_of
from natxy.exact import exact
from natxy.model.testbed import read_testbed
from natxy.procedure.self_test import looped
from natxy.procedure.setup import ReadyTester, set_up
from natxy.procedure.timing import Timing
from natxy.records.extra import records_to


@contextmanager
def connect(
    testbed: str | Path, *, records: str | Path | None = None, loop: bool = False
) -> Iterator[tuple[ReadyTester, Dut]]:
    """The tester and the device under test of a testbed's file, both up for as long as the block.

    What a lab made is taken down at its end, whatever happened. `records` is a Parquet file for
    the frames of plans with `records=True`; it is there if the block ends without an exception.
    `loop`: a cable between the two ports is in place of the device, for `self_test`.
    ConfigurationError says what is wrong with the file, DutError and DeviceError what is not there.
    """
    written, source = read_testbed(Path(testbed))
    dut = Cable() if loop else dut_of(written, source)
    if loop:
        written = looped(written)
    with (
        records_to(None if records is None else Path(records)) as kept,
        set_up(written, source, dut, kept) as setup,
    ):
        yield setup.tester, setup.dut


def timing(
    duration: float, drain: float = 2.0, settle: float = 0.0, frame_timeout: float = 0.0
) -> Timing:
    """Of each trial, in seconds and exactly as written: 0.2 is a fifth (RFC 2544 section 23).

    `drain` is how long is received after sending, `settle` the rest between trials, and
    `frame_timeout` the delay beyond which a frame counts as late (0: none does).
    """
    return Timing(
        duration_s=exact("--duration", duration),
        drain_s=exact("--drain", drain),
        settle_s=exact("--settle", settle),
        frame_timeout_s=exact("--frame-timeout", frame_timeout),
    )
