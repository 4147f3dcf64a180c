"""The ladders of tests, their steps and rungs, which tools/test_ladder.py runs."""

import dataclasses
import os
import shlex

PYTEST = [".venv/bin/pytest", "-q", "--durations=40"]
SHORT = ["-m", "not long"]
CPUS = os.cpu_count() or 1
# Tests that measure no time run in parallel. Many of them wait, so there are more of them than
# processors. tests/side_by_side.py names those that cannot run beside each other.
WITHOUT_TIME = [
    "tests/engine/test_memif_restart.py",
    "tests/engine/test_process.py",
    "tests/engine/test_variants.py",
    "tests/frames/test_capture.py",
    "tests/frames/test_golden.py",
    "tests/frames/test_icmp_errors.py",
    "tests/frames/test_judgement.py",
    "tests/frames/test_subscribers.py",
    "tests/frames/test_tcp.py",
    "tests/frames/test_tcpdump.py",
    "tests/frames/test_tshark.py",
    "tests/gateway/test_nat.py",
    "tests/gateway/test_program.py",
    "tests/gateway/test_translation.py",
    "tests/labs/test_claims.py",
    "tests/labs/test_documented_commands.py",
    "tests/labs/test_forwarding.py",
    "tests/labs/test_lifecycle.py",
    "tests/labs/test_ssh_connection.py",
    "tests/labs/test_ssh_recipes.py",
    "tests/labs/test_stateful_duts.py",
    "tests/labs/test_tcp_conntrack.py",
    "tests/labs/test_vlans_on_veths.py",
]
HARDWARE = "tests/hardware"  # the tester's guest
GUEST = "tests/guest"  # has a limit of its own, with the build of the guest


NOT_BUILT = 99  # exit status of a rung that could not build what it runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rung:
    name: str
    command: list[str]
    limit_s: float
    needs: str = ""  # the name of an earlier rung that builds what this one runs


def building(build: list[str], command: tuple[str, ...] = ("true",)) -> list[str]:
    """Returns a command that builds, and runs another one if that succeeded."""
    script = f"{shlex.join(build)} || exit {NOT_BUILT}; exec {shlex.join(command)}"
    return ["sh", "-c", script]


def cpp(preset: str, *, limit_s: float) -> Rung:
    name = f"cpp-{preset}"
    command = building(["make", f"{name}-build"], ("make", name))
    return Rung(name=name, command=command, limit_s=limit_s)


Step = list[Rung]
STYLE = [
    Rung(name="format", command=["make", "format-check"], limit_s=120),
    Rung(name="lint", command=["make", "lint"], limit_s=120),
    Rung(name="types", command=["make", "types"], limit_s=300),
]
UNIT = [Rung(name="python-unit", command=["make", "unit"], limit_s=600)]
# Most of it is one compiler after the other, so the other processors have room for more.
GUEST_IMAGE = Rung(
    name="guest-image",
    command=building(
        [
            ".venv/bin/python",
            "-c",
            "from natxy.guest.image import usable_image; print(usable_image())",
        ]
    ),
    limit_s=600,
)
CHECK: list[Step] = [STYLE, UNIT]
LABS = [
    *(f"--ignore={path}" for path in ("tests/unit", "tests/accuracy", GUEST, *WITHOUT_TIME)),
    *SHORT,
]
TEST: list[Step] = [
    [
        *STYLE,
        GUEST_IMAGE,
        Rung(name="optimised-build", command=building(["make", "optimised-build"]), limit_s=600),
    ],
    [
        cpp("asan-ubsan", limit_s=1200),
        cpp("tsan", limit_s=900),
    ],
    [
        Rung(
            name="fuzz",
            command=["make", "fuzz", "FUZZ_SECONDS=4"],
            limit_s=300,
            needs="cpp-asan-ubsan",
        ),
        Rung(
            name="without-time",
            command=[*PYTEST, "-n", str(2 * CPUS), "--dist=loadgroup", *WITHOUT_TIME, *SHORT],
            limit_s=600,
            needs="cpp-asan-ubsan",
        ),
    ],
    [
        Rung(
            name="cpp-optimised",
            command=["make", "cpp-optimised"],
            limit_s=600,
            needs="optimised-build",
        )
    ],
    [Rung(name="accuracy", command=[*PYTEST, "tests/accuracy", *SHORT], limit_s=1800)],
    [Rung(name="gateways-and-labs", command=[*PYTEST, "tests", *LABS], limit_s=1200)],
    [Rung(name="guest", command=[*PYTEST, GUEST, *SHORT], limit_s=900, needs="guest-image")],
    UNIT,
]
LONG = [
    Rung(
        name="fuzz-long",
        command=["make", "fuzz", "FUZZ_SECONDS=60"],
        limit_s=300,
        needs="cpp-asan-ubsan",
    ),
    Rung(name="tidy", command=["make", "tidy"], limit_s=3600),
    Rung(name="planted", command=["make", "planted"], limit_s=3600),
    Rung(name="debian-12", command=["tools/chroot-test", "bookworm"], limit_s=3600),
    Rung(name="debian-13", command=["tools/chroot-test", "trixie"], limit_s=3600),
    Rung(name="debian-sid", command=["tools/chroot-test", "sid"], limit_s=3600),
    Rung(name="packages", command=["packaging/check"], limit_s=7200),
    Rung(name="hardware", command=["make", "hardware"], limit_s=7200),
    Rung(
        name="long",
        command=[*PYTEST, "tests", f"--ignore={HARDWARE}", "-m", "long"],
        limit_s=7200,
    ),
]
LADDERS = {"check": CHECK, "test": TEST, "test-long": [[rung] for rung in LONG]}
