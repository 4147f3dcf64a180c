"""Testbeds with a gateway in a guest, and measurements of it by its commands."""

import json
import time
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from natxy.campaign.journal import read_journal
from natxy.campaign.records import CellState, read_campaign
from natxy.dut.choice import dut_of
from natxy.dut.guest import GuestDut
from natxy.dut.none import NoDut
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_record import TrialRecord
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.command import natxy
from tests.valid import Done, valid_run, valid_trial

RATE_FPS = 500
JOOL = "experiments/guest/jool.toml"
RINGS = {"forward": "left ring", "reverse": "right ring"}  # where frames enter the lab
TESTER = "[tester]\nlateness_tolerance_us = 20000\n"
# Jool 4.1.9 sends a checksum of 0000 over IPv6 for ffff, once in 65,536 frames (decision 0009).
TRANSLATION = "[traffic]\nleft_ip_version = 6\nright_ip_version = 4\navoid_zero_checksum = true\n"
CONNECTIONS = '[connections]\ncount = 300\nrate_fps = 500\nincomplete = "repeat"\n'
NAT64 = f'{TESTER}{TRANSLATION}{CONNECTIONS}[dut]\nkind = "guest"\ndriver = "jool"\n'
SIIT = f'{TESTER}{TRANSLATION}[dut]\nkind = "guest"\ndriver = "jool-siit"\n'
NAT64_TCP = NAT64.replace("[connections]", '[connections]\ntransport = "tcp"').replace(
    "avoid_zero_checksum = true",
    "frame_size_bytes = 98",  # the smallest with a TCP header
)
CLATS = '[subscribers]\nmechanism = "464xlat"\ncount = 100\nipv6_prefix = "2001:db8::/32"\n'
PORTS = (
    '[traffic.forward]\nsource_port = {mode = "pseudorandom", min = 10000, max = 10099}\n'
    'destination_port = {mode = "fixed", min = 53, max = 53}\n'
)
FEW = NAT64.replace("[connections]", f"{PORTS}[connections]")
PLAT = f'{CLATS}gateway_prefix = "2001:db9::/96"\n{FEW}'
AFTR = (
    (
        '[subscribers]\nmechanism = "ds-lite"\ncount = 100\nipv6_prefix = "2001:db8::/32"\n'
        f'gateway = "2001:db9::1"\n{FEW}'
    )
    .replace('driver = "jool"', 'driver = "aftr"')
    .replace("left_ip_version = 6", "left_ip_version = 4")
)
NAT44 = NAT64.replace('"jool"', '"nat44"').replace("left_ip_version = 6", "left_ip_version = 4")
AFTR_TCP = (
    AFTR.replace("[connections]", '[connections]\ntransport = "tcp"')
    .replace("avoid_zero_checksum = true", "frame_size_bytes = 98")
    .replace("count = 100", "count = 20")  # subscribers
    .replace("count = 300", "count = 100")
)
NAT44_IPTABLES = NAT44.replace('"nat44"', '"nat44-iptables"')
NAT44_RANDOM = NAT44.replace('"nat44"', '"nat44-random"')
DS_LITE = NAT44.replace('"nat44"', '"ds-lite"')
NAT64_TAYGA = NAT64.replace('"jool"', '"nat64"')
TAYGA = SIIT.replace('"jool-siit"', '"tayga"')
ROUTER = SIIT.replace('"jool-siit"', '"kernel-router"').replace("right_ip_version = 4", "")
ROUTER6 = ROUTER.replace("left_ip_version = 6", "left_ip_version = 6\nright_ip_version = 6")


def testbed_of(text: str) -> tuple[Testbed, Source, GuestDut]:
    source = Source(name="lab.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = dut_of(testbed, source)
    assert isinstance(dut, GuestDut)
    return testbed, source, dut


def trials_of(session: Session, duration_s: Fraction = Fraction(1, 2)) -> Trials:
    timing = Timing(duration_s=duration_s, drain_s=Fraction(1, 5))
    return Trials(session=session, timing=timing, campaign_seed=7)


def trial_without_dut(
    text: str, namespace: str | None, duration_s: Fraction = Fraction(1, 2)
) -> TrialRecord:
    """Runs a trial of a testbed that does not know the gateway (dut.kind "none")."""
    source = Source(name="lab.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = NoDut()
    dut.tester_namespace = namespace
    with set_up(testbed, source, dut) as session:
        return valid_trial(trials_of(session, duration_s), RATE_FPS, seed=7)


def campaign(folder: Path, *words: str) -> dict[str, CellState]:
    """Returns the cells of a campaign that `natxy WORDS` begins; its trials are checked."""
    return timed_campaign(folder, *words)[1]


def timed_campaign(folder: Path, *words: str) -> tuple[float, dict[str, CellState]]:
    """Returns how long `natxy WORDS` took, too, without repeats of what noise has spoilt."""
    begin_s = time.monotonic()
    first = natxy(*words, "--output", str(folder), timeout_s=1200)
    seconds = time.monotonic() - begin_s
    print(f"natxy {' '.join(words)}: {seconds:.0f} s")
    again = ("resume", str(folder), "--retry")
    runs = chain([first], (natxy(*again, timeout_s=1200) for _ in repeat(None)))
    done = valid_run(lambda: next(runs))
    assert done.returncode == 0, done.stderr[-2000:]
    check_trials(folder / "journal.jsonl.gz")
    cells = read_campaign(folder / "journal.jsonl.gz").cells
    assert cells
    for cell in cells.values():
        assert cell.results
        assert sum(result.counts.misdelivered for result in cell.results) == 0
    return seconds, cells


def trials_in(journal: Path) -> list[TrialRecord]:
    found = [each for each in read_journal(journal) if each["record"] == "trial"]
    return [TrialRecord.model_validate_json(json.dumps(each)) for each in found]


def check_trials(journal: Path) -> None:
    """Checks that in no phase of a trial a frame was misdelivered, or a mapping changed."""
    trials = trials_in(journal)
    assert trials
    for trial in trials:
        assert (trial.misdelivered, trial.changed) == (0, 0)


def run(verb: str, testbed: str, folder: Path, *options: str) -> Done:
    path = folder / "testbed.toml"
    path.write_text(testbed)
    quick = ("--profile", "quick", "--repetitions", "1", "--seed", "5", "--json")
    words = (verb, str(path), *quick, *options, "--output", str(folder / "results"))
    return natxy(*words, timeout_s=600)


def measured(verb: str, folder: Path, *options: str, testbed: str = NAT64) -> dict[str, Any]:
    """The entry of results.json; in no trial was a frame misdelivered or a mapping changed."""
    done = valid_run(lambda: run(verb, testbed, folder, *options))
    assert done.returncode == 0, done.stderr[-2000:]
    (entry,) = json.loads(done.stdout)
    check_trials(folder / "results" / "journal.jsonl.gz")
    found: dict[str, Any] = entry
    return found


def values_of(entry: dict[str, Any], name: str) -> list[float]:
    found = [each for each in entry["figures"] if each["figure"].startswith(name)]
    return [value for each in found for value in each["values"]]
