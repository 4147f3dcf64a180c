"""What goes wrong in a lab is named: by the ICMP errors that the gateway sends, by the check that
every frame fails, by the link that fell."""

import subprocess
import threading
from dataclasses import replace
from fractions import Fraction

import pytest

from natxy.errors import MeasurementError, TrialRefused
from natxy.model.event import Progress
from natxy.model.measurement import TrialCounts
from natxy.model.port_result import icmp_list
from natxy.model.reason import Code, Reason
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.throughput import ThroughputPlan, searches
from natxy.search.bisection import SearchError
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.timing import Timing
from tests.labs.named_faults import RATE_FPS, TIMING, lab

WHILE_A_LINK_FALLS = Timing(duration_s=Fraction(1, 2), drain_s=Fraction(1, 5))
MOST_FPS = 2000  # any router passes that
PATIENCE = 50  # invalid trials of a rate; a search must not end at one that stays invalid
DEVICES = pytest.mark.parametrize(
    "device", ["af_xdp", pytest.param("af_packet", marks=pytest.mark.long)]
)


@DEVICES
def test_a_gateway_that_cuts_frames_up_ends_a_search(device: str) -> None:
    with lab(device=device) as made:
        made.lower_mtu()
        made.clear_df()
        with pytest.raises(MeasurementError, match='check "malformed"'):
            made.valid_trial()
        assert made.trials.last is not None
        (stream,) = made.trials.last.result.streams
    counted = stream.kinds.foreground
    assert counted is not None
    assert counted.misdelivered.malformed == stream.sent == 500


@DEVICES
def test_a_frame_that_is_too_long_is_answered_with_the_mtu(device: str) -> None:
    with lab(device=device) as made:
        made.lower_mtu()
        trial = made.valid_trial()
    assert trial.verdict is Verdict.FAIL
    said = icmp_list(trial.result.icmp_errors)
    assert said == "500 x ICMP fragmentation needed, MTU 1280, from 198.18.0.1"
    left, right = trial.result.ports
    assert left.side == "left"
    assert left.foreign >= 500  # they are among what is not of the trial
    assert len(left.icmp_errors[0].example) == 256  # the first 128 octets
    assert not right.icmp_errors


NO_WAY = [
    (4, ["route", "replace", "prohibit", "198.19.0.0/16"], "ICMP prohibited by a filter"),
    (4, ["route", "replace", "unreachable", "198.19.0.0/16"], "ICMP host unreachable"),
    (4, ["route", "del", "198.19.0.0/16"], "ICMP no route (network unreachable)"),
    (6, ["-6", "route", "replace", "prohibit", "{ipv6}"], "ICMPv6 prohibited by a filter"),
    (6, ["-6", "route", "del", "{ipv6}"], "ICMPv6 no route"),
]


@pytest.mark.parametrize(
    ("version", "change", "words"),
    [*(pytest.param(*way, marks=pytest.mark.long) for way in NO_WAY[:-1]), NO_WAY[-1]],
)
def test_a_gateway_that_has_no_way_says_why(version: int, change: list[str], words: str) -> None:
    with lab(version=version) as made:
        made.run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
        prefix = "2001:2:0:8000::/56"
        made.run("ip", *(word.format(ipv6=prefix) for word in change))
        trial = made.valid_trial()
    assert trial.verdict is Verdict.FAIL
    assert f" x {words}, from " in icmp_list(trial.result.icmp_errors)


@pytest.mark.parametrize(
    ("version", "words"),
    [pytest.param(4, "TTL exceeded", marks=pytest.mark.long), (6, "hop limit exceeded")],
)
def test_a_gateway_that_has_used_up_the_hop_limit_says_so(version: int, words: str) -> None:
    with lab(version=version, hop_limit=1) as made:
        made.run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
        trial = made.valid_trial()
    assert trial.verdict is Verdict.FAIL
    assert f"{words}, from " in icmp_list(trial.result.icmp_errors)


def test_a_warm_up_in_vain_says_what_came_instead() -> None:
    sentence = r"none arrived on the right; .* x ICMP fragmentation needed, MTU 1280, from 198\."
    with lab(warm_up="probes", warm_up_timeout_s=0.5) as made:
        made.lower_mtu()
        with pytest.raises(TrialRefused, match=sentence):
            made.trial()


@pytest.mark.long
def test_a_router_that_takes_udp_checksums_away_is_measured_over_ipv4() -> None:
    """With the same throughput as with them; pauses lower the counted rate by up to 2 %."""
    with_sums, without_sums = (searched(takes_away=takes_away) for takes_away in (False, True))
    for found_fps, _ in (with_sums, without_sums):
        assert 0.98 * MOST_FPS <= found_fps <= MOST_FPS
    assert with_sums[1].misdelivered == without_sums[1].misdelivered == 0
    assert with_sums[1].without_udp_checksum == 0
    assert without_sums[1].without_udp_checksum >= MOST_FPS * TIMING.duration_s


def searched(*, takes_away: bool) -> tuple[int, TrialCounts]:
    plan = ThroughputPlan(
        timing=TIMING,
        seed=7,
        repetitions=1,
        error=SearchError(rate_fps=100),
        max_rate_fps=MOST_FPS,
        loss_verifications=1,
        invalid_repeats=PATIENCE,
    )
    with lab(warm_up="probes") as made:
        if takes_away:
            made.take_udp_checksums_away("ip")
        trials = plan.trials(made.session)
        (found,) = searches(plan, trials)
    return found.rate_fps, trials.counts


@pytest.mark.parametrize(
    ("family", "udp_checksum"),
    [pytest.param("ip6", "optional", marks=pytest.mark.long), ("ip", "required")],
)
def test_a_udp_checksum_is_required_over_ipv6_and_where_it_is_asked_for(
    family: str, udp_checksum: str
) -> None:
    with lab(version=6 if family == "ip6" else 4, udp_checksum=udp_checksum) as made:
        made.take_udp_checksums_away(family)
        with pytest.raises(MeasurementError, match='check "checksum"'):
            made.valid_trial()
        assert made.trials.last is not None
        (stream,) = made.trials.last.result.streams
    counted = stream.kinds.foreground
    assert counted is not None
    assert counted.misdelivered.checksum == stream.sent == 500
    assert counted.without_udp_checksum == 0


class Flap(Observer):
    """Takes a link of the tester down and up again, once while each trial sends."""

    def __init__(self) -> None:
        self.command: list[str] = []
        self._timer: threading.Timer | None = None

    def trial_progressed(self, progress: Progress) -> None:
        if progress.stage == "sending" and self._timer is None:
            self._timer = threading.Timer(0.1, self._flap)
            self._timer.start()

    def trial_ended(self, trial: TrialRecord) -> None:
        del trial
        if self._timer is not None:
            self._timer.join()
        self._timer = None

    def _flap(self) -> None:
        for state in ("down", "up"):
            subprocess.run([*self.command, state], check=True, timeout=10)


@DEVICES
@pytest.mark.parametrize(
    "may_fall",
    [
        pytest.param(False, id="measured"),
        pytest.param(True, id="reset", marks=pytest.mark.long),
    ],
)
def test_a_link_that_falls_within_a_trial_makes_it_invalid(device: str, may_fall: bool) -> None:
    flap = Flap()
    with lab(device=device, observer=flap, timing=WHILE_A_LINK_FALLS) as made:
        flap.command = ["ip", "-n", made.tester, "link", "set", "t1"]
        load = replace(steady(RATE_FPS, WHILE_A_LINK_FALLS.duration_s), link_may_fall=may_fall)
        trial = made.trials.run(load=load, repetition=1, seed=7)
    reason = Reason.of(Code.LINK_FELL, "right", times=1)
    downs = {port.side: port.link_downs for port in trial.result.ports}
    assert downs == {"left": 0, "right": 1}
    assert (reason in trial.invalid_reasons) is not may_fall
    assert trial.verdict is Verdict.INVALID or may_fall
