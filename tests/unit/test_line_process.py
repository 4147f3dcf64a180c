"""A program that reads and writes lines: what it says, how it ends, and that it is always ended."""

import sys
import time
from collections import deque
from pathlib import Path

import pytest

from natxy.dut.gateway_process import GatewayProcess
from natxy.errors import DutError, TesterDied
from natxy.line_process import LineProcess
from natxy.tester.tester import engine_died

TOO_MUCH = r"printed more than 16 MiB \(expected less\)"
ECHO = """
import sys
for line in sys.stdin:
    print(line.strip(), flush=True)
    if line.strip() == "die":
        print("no memory", file=sys.stderr)
        sys.exit(3)
"""


def test_lines_go_both_ways_until_the_program_ends() -> None:
    process = LineProcess([sys.executable, "-c", ECHO], engine_died)
    try:
        assert process.receive(0.01) is None
        process.send("one")
        process.send("die")
        assert [process.receive(30), process.receive(30)] == ["one\n", "die\n"]
        for _ in range(2):
            with pytest.raises(TesterDied, match=r"\) ended with status 3: no memory$"):
                process.receive(30)
    finally:
        process.close()
    assert process.status == 3


def test_the_end_of_its_input_ends_it() -> None:
    process = LineProcess([sys.executable, "-c", ECHO], engine_died)
    process.close()
    process.close()
    assert process.status == 0
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.parametrize("lines", ["a line without end", "lines that nobody waits for"])
def test_an_engine_that_prints_without_end_is_ended(lines: str) -> None:
    command = ["tr", "\\0", "x"] if lines == "a line without end" else ["yes"]
    process = LineProcess(["sh", "-c", f"{' '.join(command)} </dev/zero"], engine_died)
    try:
        with pytest.raises(TesterDied, match=TOO_MUCH):
            deque(iter(lambda: slowly(process), None), maxlen=0)
    finally:
        process.close()


def slowly(process: LineProcess) -> str | None:
    time.sleep(0.0005)
    return process.receive(30)


def test_a_calibration_gateway_that_prints_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "natxy-gateway"
    program.write_text("#!/bin/sh\nexec tr '\\0' x </dev/zero\n")
    program.chmod(0o755)
    monkeypatch.setenv("NATXY_GATEWAY", str(program))
    gateway = GatewayProcess([])
    try:
        with pytest.raises(DutError, match=rf"natxy-gateway {TOO_MUCH}"):
            gateway.hello()
    finally:
        gateway.close()
