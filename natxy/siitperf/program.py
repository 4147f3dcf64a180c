"""siitperf's three programs: one trial, and its result in the lines that scripts look for."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError, MeasurementError, NatxyError
from natxy.model.event import Hello
from natxy.model.trial_result import StreamResult, TrialResult
from natxy.model.trial_spec import NO_RECORDING, Recording, Tags
from natxy.model.verdict import Verdict
from natxy.procedure.delays import P999, Delays
from natxy.procedure.observer import Observer
from natxy.procedure.seeds import new_seed, nonce
from natxy.procedure.setup import set_up
from natxy.procedure.timing import Timing
from natxy.procedure.trial import Outcome, TrialPlan, run_trial, steady
from natxy.siitperf.arguments import LAST, Arguments, read_arguments
from natxy.siitperf.configuration import FILE, Configuration, read_configuration
from natxy.siitperf.entries import Warn
from natxy.siitperf.lab_addresses import with_own_addresses
from natxy.siitperf.site import SIDES, VARIABLE, Site, is_lab, site_of
from natxy.siitperf.testbed import testbed_of

Say = Callable[[str], None]
INVALID_STATUS = 1
NS_PER_MS = 10**6
SIDE_NAMES = {"forward": "Forward", "reverse": "Reverse"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    configuration: Configuration
    arguments: Arguments
    site: Site


def run_siitperf(words: list[str], say: Say, warn: Warn) -> int:
    """The exit status; everything is said, nothing is raised but an interrupt."""
    try:
        return _measure(_read(words, warn), say, warn)
    except NatxyError as error:
        # DeviceError and EngineNotFound are no wrong input: there is nothing to measure with.
        kind = "Input Error" if type(error) is ConfigurationError else "Error"
        say(f"{kind}: {error}")
        return error.exit_status


def _read(words: list[str], warn: Warn) -> Asked:
    command = words[0] if words else ""
    if command not in LAST:
        raise ConfigurationError(f'siitperf: "{command}" is no test, tp, lat or pdv is right')
    configuration = read_configuration(FILE, warn)
    arguments = read_arguments(command, words[1:], configuration)
    if arguments.preliminary is not None:
        raise MeasurementError("Stateful: stateful tests are not there yet, 0 is right")
    configured = testbed_of(configuration)
    traffic = arguments.traffic(configured.traffic)
    configured = configured.model_copy(update={"traffic": traffic})
    site = site_of(configured, configuration, os.environ.get(VARIABLE), warn)
    return Asked(configuration=configuration, arguments=arguments, site=site)


def _measure(asked: Asked, say: Say, warn: Warn) -> int:
    arguments, site = asked.arguments, asked.site
    _warn_of_settings(asked.configuration, warn)
    timing = Timing(
        duration_s=Fraction(arguments.duration_s),
        drain_s=arguments.timeout_s,
        frame_timeout_s=Fraction(arguments.frame_timeout_ms, 1000),
    )
    timing.check_rate("frame rate", arguments.rate_fps)
    load = steady(arguments.rate_fps, timing.duration_s, _recording(arguments))
    with set_up(site.testbed, site.source, dut_of(site.testbed, site.source)) as setup:
        tester = setup.tester
        if is_lab(site.testbed):
            own = with_own_addresses(setup.traffic.testbed, asked.configuration, warn)
            tester = tester.with_testbed(own)
        else:
            _warn_of_macs(asked.configuration, tester.hello, warn)
        seed = new_seed()
        say(f"Info: natxy, engine {tester.hello.engine_version}, seed {seed}")
        plan = TrialPlan(traffic=tester.traffic, timing=timing)
        spec = plan.spec(load=load, seed=seed, nonce=nonce(seed, 0))
        setup.dut.reset()
        outcome = run_trial(spec, tester, setup.dut, Observer())
    return _tell(arguments, outcome, say)


def _recording(arguments: Arguments) -> Recording:
    if arguments.command != "lat":
        return NO_RECORDING
    last = arguments.last
    return Recording(tags=Tags(after_ns=last["tags_after_s"] * 10**9, count=last["tags"]))


def _warn_of_settings(configuration: Configuration, warn: Warn) -> None:
    if not configuration.promiscuous:
        warn("Promisc: 0 is not honoured, ports are promiscuous and each frame is checked")
    if configuration.memory_channels != 1:
        warn("MEM-Channels: is not used, memory channels are found by DPDK")


def _warn_of_macs(configuration: Configuration, hello: Hello, warn: Warn) -> None:
    for side, letter in SIDES:
        said = getattr(configuration, side).tester_mac
        for port in hello.ports:
            if port.side == side and said and said != port.mac.lower():
                warn(f"MAC-{letter}-Tester: {said} is not used, the port has {port.mac}")


def _tell(arguments: Arguments, outcome: Outcome, say: Say) -> int:
    if outcome.verdict is Verdict.INVALID:
        say(f"Info: the test is invalid: {'; '.join(outcome.invalid_reasons)}")
        return INVALID_STATUS
    for line in result_lines(arguments, outcome.result):
        say(line)
    return 0


def result_lines(arguments: Arguments, result: TrialResult) -> Iterator[str]:
    for stream in result.streams:
        side = SIDE_NAMES[stream.direction]
        yield f"Info: {side} sending took {stream.sending_ns / 1e9:.10f} seconds."
        counters = [each for _, each in stream.counters()]
        yield f"{side} frames sent: {sum(each.sent for each in counters)}"
        yield f"{side} frames received: {sum(each.received for each in counters)}"
    for stream in result.streams:
        for name, value_ns in _figures(arguments, stream):
            yield f"{SIDE_NAMES[stream.direction]} {name}: {value_ns / NS_PER_MS:.6f}"


def _figures(arguments: Arguments, stream: StreamResult) -> Iterator[tuple[str, float]]:
    if arguments.command == "lat":
        delays = _tagged(arguments, stream)
        yield "TL", delays.median_ns
        yield "WCL", delays.percentile_ns(P999)
    if arguments.command == "pdv" and not arguments.frame_timeout_ms:
        delays = _all(arguments, stream)
        yield "PDV", delays.percentile_ns(P999) - delays.minimum_ns


def _tagged(arguments: Arguments, stream: StreamResult) -> Delays:
    """A lost one counts as the longest delay that it can have had (SP 3.3.3)."""
    tags = stream.tags
    assert tags is not None, "the trial was asked for tags"
    after_s = arguments.last["tags_after_s"]
    lost_s = arguments.duration_s - after_s + arguments.timeout_s
    return Delays(distributions=(tags.delay,), lost=tags.lost, lost_ns=float(lost_s * 10**9))


def _all(arguments: Arguments, stream: StreamResult) -> Delays:
    """SP 3.3.4."""
    counters = [each for _, each in stream.counters()]
    return Delays(
        distributions=tuple(each.delay for each in counters),
        lost=sum(each.lost for each in counters),
        lost_ns=float((arguments.duration_s + arguments.timeout_s) * 10**9),
    )
