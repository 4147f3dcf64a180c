"""siitperf's three programs: each runs one trial and prints siitperf's result lines.

By siitperf's rules, a test is invalid, or ends after phase 1.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from natxy.dut.base import Dut
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError, NatxyError
from natxy.model.event import Hello
from natxy.model.reason import Code, Reason
from natxy.model.source import Source
from natxy.model.stream_result import StreamResult
from natxy.model.testbed import Testbed
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import ESTABLISH
from natxy.siitperf.arguments import LAST, Arguments, read_arguments
from natxy.siitperf.configuration import FILE, Configuration, Warn, read_configuration
from natxy.siitperf.lines import (
    SIDE_NAMES,
    device_lines,
    missing_figures,
    preliminary_lines,
    result_lines,
)
from natxy.siitperf.measurement import Attempt, SiitperfTest, until_valid
from natxy.siitperf.stateful import connections_of
from natxy.siitperf.testbed import testbed_of
from natxy.siitperf.whole_testbed import (
    SIDES,
    VARIABLE,
    is_lab,
    whole_testbed_of,
    with_own_addresses,
)
from natxy.trial.seeds import new_seed
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.trial import Trial
from natxy.verdict.clean_tags import too_few, waits
from natxy.verdict.losses import excuse
from natxy.verdict.pacing import PAUSE_SHARE, is_too_slow, long_pauses
from natxy.verdict.placement import bad_placement

TOLERANCE = Fraction(100_001, 100_000)  # of the time that sending takes
Say = Callable[[str], None]
INVALID_STATUS = 1
FAILED_STATUS = 1
INVALID = {"tp": "Info", "lat": "Info", "pdv": "Error"}  # how siitperf's line begins


@dataclass(frozen=True, kw_only=True)
class Asked:
    configuration: Configuration
    arguments: Arguments
    testbed: Testbed
    source: Source


def run_siitperf(words: list[str], say: Say, warn: Warn) -> int:
    """Runs a test and returns the exit status; raises nothing but an interrupt."""
    try:
        return _measure(_read(words, warn), say, warn)
    except NatxyError as error:
        # DeviceError and EngineNotFound are subclasses, but not wrong input.
        kind = "Input Error" if type(error) is ConfigurationError else "Error"
        say(f"{kind}: {error.in_options}")
        return error.exit_status


def _read(words: list[str], warn: Warn) -> Asked:
    command = words[0] if words else ""
    if command not in LAST:
        raise ConfigurationError(f'siitperf: unknown test "{command}" (expected tp, lat or pdv)')
    configuration = read_configuration(FILE, warn)
    arguments = read_arguments(command, words[1:], configuration, warn)
    configured = testbed_of(configuration)
    asked = {
        "traffic": arguments.traffic(configured.traffic),
        "connections": connections_of(configuration, arguments, warn),
    }
    configured = configured.model_copy(update=asked)
    named = os.environ.get(VARIABLE)
    testbed, source = whole_testbed_of(configured, configuration, named, warn)
    return Asked(configuration=configuration, arguments=arguments, testbed=testbed, source=source)


def _measure(asked: Asked, say: Say, warn: Warn) -> int:
    _warn_of_settings(asked.configuration, warn)
    testbed, source = asked.testbed, asked.source
    test = SiitperfTest.of(asked.arguments, phase_2=asked.configuration.has_phase_2)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        session = _with_addresses(session, asked, warn)
        seed = new_seed()
        say(f"Info: natxy, engine {session.hello.engine_version}, seed {seed}")

        def make(number: int) -> Attempt:
            trial = test.run(session, seed, number)
            reasons = reasons_of(asked.arguments, trial, testbed)
            too_slow = is_too_slow(trial.result, most_pauses(testbed))
            return Attempt(result=trial.result, reasons=reasons, too_slow=too_slow)

        last = until_valid(make, testbed.siitperf.repeats, say)
        if last.reasons:
            kind = INVALID[asked.arguments.command]
            say(f"{kind}: the test is invalid: {'; '.join(map(str, last.reasons))}")
        for remark in waits([last.result]):
            warn(str(remark))
        status = _tell(asked, session.dut, last.result, say)
        return INVALID_STATUS if last.reasons else status


def _with_addresses(session: Session, asked: Asked, warn: Warn) -> Session:
    if not is_lab(asked.testbed):
        _warn_of_macs(asked.configuration, session.hello, warn)
        return session
    return session.with_testbed(with_own_addresses(session.testbed, asked.configuration, warn))


def _tell(asked: Asked, dut: Dut, result: TrialResult, say: Say) -> int:
    if asked.arguments.preliminary is not None:
        for line in (*preliminary_lines(result), *device_lines(dut)):
            say(line)
    missing = missing_entries(asked.arguments, result)
    if missing is not None:
        say(f"Error: {missing}")
        return FAILED_STATUS
    for line in result_lines(asked.arguments, result):
        say(line)
    without = tuple(missing_figures(asked.arguments, result))
    for sentence in without:
        say(f"Error: {sentence}")
    return FAILED_STATUS if without else 0


def _warn_of_settings(configuration: Configuration, warn: Warn) -> None:
    if not configuration.promiscuous:
        warn("Promisc: 0 is ignored: ports are promiscuous, and each frame is checked")
    if configuration.memory_channels != 1:
        warn("MEM-Channels: is ignored: DPDK detects the memory channels")


def _warn_of_macs(configuration: Configuration, hello: Hello, warn: Warn) -> None:
    for side, letter in SIDES:
        said = getattr(configuration, side).tester_mac
        for port in hello.ports:
            if port.side == side and said and said != port.mac.lower():
                warn(f"MAC-{letter}-Tester: {said} is ignored: the port has {port.mac}")


def reasons_of(arguments: Arguments, trial: Trial, testbed: Testbed) -> tuple[Reason, ...]:
    """Returns the reasons why the test is invalid, none if it is valid.

    It is invalid if the tester did not do what it was asked, or if absences or the placement of
    the gateway explain every missing frame.
    """
    spec, result = trial.spec, trial.result
    if reasons := (
        trial.invalid_reasons or too_slow(arguments, result, testbed) or too_few(result)
    ):
        return reasons
    lost = any(stream.lost for stream in result.streams)
    placed = bad_placement(result, trial.absence) if lost else None
    excused = excuse(spec, result, trial.absence) or placed
    return (excused,) if excused else ()


def too_slow(arguments: Arguments, result: TrialResult, testbed: Testbed) -> tuple[Reason, ...]:
    """Returns the reasons why the tester was too slow, by siitperf's rule.

    Natxy's own rule is used if the testbed sets lateness_tolerance_us.
    """
    if _has_own_rule(testbed):
        paused = long_pauses(result, PAUSE_SHARE)
        return (paused,) if paused else ()
    return tuple(_too_slow(arguments, result))


def most_pauses(testbed: Testbed) -> Fraction:
    """Returns the longest pauses of a valid test, as a share of its time."""
    return PAUSE_SHARE if _has_own_rule(testbed) else TOLERANCE - 1


def _has_own_rule(testbed: Testbed) -> bool:
    return "lateness_tolerance_us" in testbed.tester.model_fields_set


def _too_slow(arguments: Arguments, result: TrialResult) -> Iterator[Reason]:
    for stream in result.streams:
        should_s = Fraction(stream.due, _rate_fps(arguments, stream))
        took_s = stream.sending_ns / 1e9
        if took_s > should_s * TOLERANCE:
            name = "Preliminary" if stream.phase == ESTABLISH else SIDE_NAMES[stream.direction]
            due_ns = float(should_s) * 1e9
            facts = {
                "excess_ns": took_s * 1e9 - due_ns,
                "due_ns": due_ns,
                "limit_ns": due_ns * float(TOLERANCE - 1),
            }
            yield Reason.of(Code.SENT_SLOWLY, name, **facts)


def _rate_fps(arguments: Arguments, stream: StreamResult) -> int:
    if stream.phase != ESTABLISH:
        return arguments.rate_fps
    assert arguments.preliminary is not None, "a stateless test has no such phase"
    return arguments.preliminary.preliminary_rate_fps


def missing_entries(arguments: Arguments, result: TrialResult) -> str | None:
    """Returns a sentence if phase 1 filled the state table with fewer than M entries."""
    made = result.stream_of(ESTABLISH)
    if made is None or arguments.preliminary is None:
        return None
    entries, asked = _entries(result, made), arguments.preliminary.table_entries
    if entries >= asked:
        return None
    return (
        f"Failed to fill state table (valid entries: {entries}, required: {asked}), the test ends "
        "after its preliminary phase"
    )


def _entries(result: TrialResult, made: StreamResult) -> int:
    """Counts entries as siitperf does: a frame that repeats a connection is one as well."""
    stored = result.connections.stored if result.connections else 0
    again = made.connections.known if made.connections else 0
    return stored + again
