"""What tests of trials share with others."""

import sys
from fractions import Fraction
from pathlib import Path

from natxy.dut.base import Dut
from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.trial.timing import Timing

TIMING = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(1, 20))
NATXY = [sys.executable, "-c", "from natxy.cli import main; main()"]
ROOT = Path(__file__).parents[2]
ROUTER4 = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n{more}[dut]\nkind = 'namespace'\n"
TAYGA = "[traffic]\navoid_zero_checksum = true\n{more}[dut]\nkind = 'namespace'\ndriver = 'tayga'\n"


def testbed_of(text: str) -> tuple[Testbed, Source, Dut]:
    source = Source(name="lab.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    return testbed, source, dut_of(testbed, source)
