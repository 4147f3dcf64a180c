"""`natxy self-test`: connects the tester to itself and finds the rates that it reaches."""

import json
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated

from rich import box
from rich.table import Table

from natxy.campaign.journal import provenance
from natxy.cli.now_and_then import Lines, watching
from natxy.cli.options import (
    CoresOption,
    JsonOption,
    SeedOption,
    cpus_of,
    progress_console,
    repeat_command,
    result_console,
    seed_of,
)
from natxy.cli.sentences import quote, say
from natxy.dut.base import Dut
from natxy.dut.lab import VethLoop
from natxy.dut.none import Cable
from natxy.errors import ConfigurationError, unknown_value
from natxy.measure.traffic_settings import FRAME_SIZE, with_values
from natxy.model.addresses import IpVersion
from natxy.model.coded import duration
from natxy.model.event import Hello
from natxy.model.self_test_record import OwnDelay, SelfTestRecord, TesterIdentity
from natxy.model.source import Source
from natxy.model.testbed import Port, Testbed, TesterSection, TrafficSection, read_testbed
from natxy.procedure.self_test import OFFSET_FPS, SIZES_BYTES, Ceiling, SelfTestPlan, looped
from natxy.procedure.self_test import self_test as measure
from natxy.report.numbers import rate
from natxy.setting import Argument, Setting
from natxy.tester.self_tests import state_file, with_self_test
from natxy.trial.setup import set_up
from natxy.whole_file import write_whole

LOOPS = ("ring", "veth")
OVERHEAD_BYTES = 20  # preamble, start of frame, gap
LIMITS = {"dut": "loss in the loop", "tester": "lateness", "maximum": "the media"}
NOISE = (
    "Limited by noise: trials above this rate stayed invalid for reasons that do not grow with the "
    "rate, such as a core that was away, so the tester reaches at least this rate. Run `natxy "
    "doctor`, which reports what takes the tester's cores away."
)


def self_test(
    testbed: Annotated[
        Path | None,
        Argument(
            "testbed",
            "Testbed file whose two ports are connected by a cable; its traffic is sent",
            "TESTBED",
            default="a loop on this machine",
        ),
    ] = None,
    loop: Annotated[
        str | None,
        Setting(
            "loop",
            "Loop on this machine: ring (in memory) or veth (through the kernel)",
            "HOW",
            default="ring",
            short="ring (in memory, the default) or veth (the kernel's)",
        ),
    ] = None,
    frame_size: Annotated[
        list[int] | None,
        Setting(
            "frame_size",
            "Octets of the IPv6 frame, FCS included; may be given several times",
            "BYTES",
            default=", ".join(map(str, SIZES_BYTES)),
            short="Octets of the IPv6 frame; may be repeated",
        ),
    ] = None,
    ip_version: Annotated[
        int | None,
        Setting(
            "ip_version",
            "IP version of the traffic, 4 or 6; only for a loop without a testbed",
            "VERSION",
            default="6",
            short="IP version of the traffic in a loop, 4 or 6",
        ),
    ] = None,
    cores: CoresOption = "0",
    seed: SeedOption = None,
    output: Annotated[
        Path | None,
        Setting(
            "output",
            "File for the tester's own delay, which later measurements read",
            "FILE",
            default="$XDG_STATE_HOME/natxy/self-tests.json, or "
            "~/.local/state/natxy/self-tests.json",
            panel="Output",
            letter="o",
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Find the highest rate that this tester reaches without loss, and its own delay.

    Examples:
        natxy self-test
        natxy self-test --loop veth --ip-version 4
        natxy self-test testbed.toml
    """
    chosen, source, cable = _loop(testbed, loop, ip_version, cpus_of(cores))
    if output is not None and output.is_dir():
        raise ConfigurationError(f"--output: {output} is a folder (expected a file)")
    sizes = tuple(frame_size) if frame_size else SIZES_BYTES
    for size in sizes:  # before anything is started
        with_values(chosen, {FRAME_SIZE: size})
    plan = SelfTestPlan(seed=seed_of(seed), sizes_bytes=sizes)
    title = f"Self-test, seed {plan.seed}"
    with set_up(chosen, source, cable) as session:
        kept = provenance(session, seed=plan.seed, command=[repeat_command(plan.seed)])
        lines = Lines(say=partial(say, progress_console), begun=False)
        with watching(progress_console, title, lines, error_fraction=0.01) as display:
            ceilings = measure(plan, session.with_observer(display))
        record = _record(ceilings, session.hello, chosen.traffic, _name(testbed, loop))
    if json_output:
        found = [ceiling.model_dump(mode="json") for ceiling in ceilings]
        print(json.dumps({"ceilings": found, "provenance": kept}, indent=2))
    else:
        _show(ceilings, plan, session.testbed)
    if not record.delays:  # an earlier self-test is better than none
        return
    path = output or state_file()
    write_whole(path, with_self_test(record, path))
    if not json_output:
        quote(result_console, f"Stored for later measurements of delay: {path}")


def _loop(
    path: Path | None, loop: str | None, ip_version: int | None, cores: tuple[int, ...]
) -> tuple[Testbed, Source, Dut]:
    if path is not None:
        if loop is not None:
            raise ConfigurationError(
                "--loop: is not possible with a testbed, which has its own ports (expected one of "
                "the two)"
            )
        if ip_version is not None:
            raise ConfigurationError(
                "--ip-version: is not possible with a testbed, which has its own traffic (expected "
                "one of the two)"
            )
        written, source = read_testbed(path)
        return looped(written), source, Cable()
    kind = loop or "ring"
    if kind not in LOOPS:
        raise unknown_value("--loop", kind, LOOPS)
    port = Port(device="ring" if kind == "ring" else None)
    if ip_version not in (None, 4, 6):
        raise ConfigurationError(f"--ip-version: unknown value {ip_version} (expected 4 or 6)")
    version: IpVersion = 4 if ip_version == 4 else 6
    testbed = looped(
        Testbed(
            tester=TesterSection(cores=cores, left=port, right=port),
            traffic=TrafficSection(left_ip_version=version, right_ip_version=version),
        )
    )
    return testbed, Source(name="self-test"), Cable() if kind == "ring" else VethLoop()


def _name(testbed: Path | None, loop: str | None) -> str:
    return "testbed" if testbed is not None else loop or LOOPS[0]


def _record(
    ceilings: list[Ceiling], hello: Hello, traffic: TrafficSection, loop: str
) -> SelfTestRecord:
    return SelfTestRecord(
        date=date.today().isoformat(),
        loop=loop,
        cpus=tuple(worker.cpu for worker in hello.workers),
        tester=TesterIdentity.of(hello, traffic),
        delays=tuple(ceiling.delay for ceiling in ceilings if ceiling.delay is not None),
    )


# Columns: the median at a low rate, and both percentiles at half of the limit.
DELAYS = (
    f"median at\n{OFFSET_FPS:,} fps",
    "median\nat half",
    "P99.9\nat half",
)


def ceiling_table(ceilings: list[Ceiling]) -> Table:
    table = Table(
        title="Rates that this tester reaches, per direction",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title_style="bold",
    )
    for name in ("frame", "frames a\nsecond", "Gbit/s", *DELAYS):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("limited by")
    table.add_column("invalid\ntrials", no_wrap=True)
    for ceiling in ceilings:
        table.add_row(*_row(ceiling))
    return table


def _row(ceiling: Ceiling) -> list[str]:
    bits = (ceiling.frame_size_bytes + OVERHEAD_BYTES) * 8
    own = ceiling.delay
    return [
        f"{ceiling.frame_size_bytes} B",
        ("≥ " if ceiling.lower_bound else "") + rate(ceiling.rate_fps),
        f"{ceiling.rate_fps * bits / 1e9:.3f}",
        *(_delays(own) if own is not None else ("none",) * 3),
        "noise" if ceiling.noise else LIMITS[ceiling.limit],
        f"{ceiling.invalid_trials} of {ceiling.trials}",
    ]


def _delays(own: OwnDelay) -> tuple[str, str, str]:
    found = (own.offset.median_ns, own.loaded.median_ns, own.loaded.p999_ns)
    offset, median, worst = (duration(delay_ns) for delay_ns in found)
    return offset, median, worst


def _show(ceilings: list[Ceiling], plan: SelfTestPlan, testbed: Testbed) -> None:
    ports = f"{testbed.tester.left.device} and {testbed.tester.right.device}"
    result_console.print(ceiling_table(ceilings))
    for line in (
        f"Traffic: {traffic_words(testbed)}.",
        f"Ports: {ports}; workers on CPU {', '.join(map(str, testbed.tester.cores))}.",
        f"Trials of {float(plan.timing.duration_s):g} s: longer ones are interrupted more often "
        "by other work of this machine, which `natxy doctor` reports.",
        "The tester's own delay is a part of every delay that it measures, and depends on the "
        f"rate. At {OFFSET_FPS:,} frames a second it may be longer than at half of the rate in the "
        "table, since each frame then comes after a long pause, in which other work has filled the "
        "processor's caches.",
        *remarks(ceilings),
    ):
        say(result_console, line)
    quote(result_console, f"Repeat it: {repeat_command(plan.seed)}")


def remarks(ceilings: list[Ceiling]) -> tuple[str, ...]:
    """Returns what noise has left unknown."""
    noise = (NOISE,) if any(ceiling.noise for ceiling in ceilings) else ()
    unknown = (
        f"The tester's own delay at {ceiling.frame_size_bytes} B is unknown, and is not stored: "
        f"{ceiling.why_no_delay}."
        for ceiling in ceilings
        if ceiling.delay is None
    )
    return (*noise, *unknown)


def traffic_words(testbed: Testbed) -> str:
    """Describes the traffic that was sent, on which the rates depend."""
    traffic, connections = testbed.traffic, testbed.connections
    both = "both directions at once" if traffic.direction == "both" else f"{traffic.direction} only"
    networks = max(traffic.left_networks, traffic.right_networks)
    said = [
        f"IPv{traffic.left_ip_version}",
        both,
        f"{traffic.m / traffic.n * 100:.4g} % foreground",
        f"{networks} destination network{'s' if networks > 1 else ''}",
    ]
    if connections is not None:
        said.append(f"{connections.count:,} connections")
    return ", ".join(said)
