"""Examines privileges, programs and AF_XDP, and removes what dead labs have left."""

import os
import subprocess

from natxy.doctor.finding import Finding, costs, good, impossible
from natxy.dut.execution import missing_programs
from natxy.dut.lab import VethLoop
from natxy.dut.ledger import sweep
from natxy.dut.namespaces import lacking_for_a_lab
from natxy.dut.recipe import drivers
from natxy.errors import EngineNotFound, NatxyError
from natxy.installed import HOW
from natxy.program_output import OutputTooLong, run
from natxy.tester.command import find_engine
from natxy.tester.tester import ended

STARTS_WITHIN_S = 10.0
UNUSABLE = 2  # exit status of a launcher that refuses the processor or the variant


def examine_tools() -> list[Finding]:
    found = [privileges(), engine(), programs()]
    if not lacking_for_a_lab():
        found += [leftovers(), af_xdp()]
    return found


def privileges() -> Finding:
    """Examines those of the user; a root without some of them is among the capabilities."""
    user = os.geteuid()
    if user == 0:
        return good("privileges", "root")
    if not (lacking := lacking_for_a_lab()):
        return good("privileges", f"user {user} with the capabilities of a lab")
    return impossible(
        "privileges",
        f"user {user} without {', '.join(lacking)}",
        cost="no labs, no AF_XDP, no packet sockets",
        remedy="sudo natxy doctor  # docs/privileges.md lists what needs root",
    )


def engine() -> Finding:
    try:
        found = find_engine()
    except EngineNotFound as error:
        return impossible("engine", error.in_options, cost="no trials", remedy=f"# {HOW}")
    version, complaint, remedy = _start(found)
    if complaint:
        return impossible("engine", f"{found} {complaint}", cost="no trials", remedy=remedy)
    return good("engine", f"{found}: {version}")


def _start(program: str) -> tuple[str, str, str]:
    """Returns the version with the variant, or why the program does not start, and the remedy.

    It may be of another architecture, or for processors with more instructions.
    """
    remedy = f"# {HOW}"
    try:
        done = run([program, "--version"], timeout_s=STARTS_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired, OutputTooLong) as error:
        return "", f"does not start: {error}", remedy
    if done.status == 0:
        return done.output.strip(), "", ""
    last = done.errors.splitlines()[-1:]
    if done.status == UNUSABLE:
        remedy = "# the state above says what it expects"
    return "", ": ".join([ended(done.status), *last]), remedy


def programs() -> Finding:
    labs = [recipe.in_lab for recipe in drivers("namespace").values()]
    packages = {name: each for lab in labs for name, each in lab.packages.items()}
    missing = missing_programs(packages)
    if not missing:
        return good("programs of the labs", "all installed")
    return costs(
        "programs of the labs",
        f"missing: {', '.join(sorted(missing))}",
        cost="some or all labs are impossible; natxy dut check NAME examines one",
        remedy=f"apt-get install {' '.join(sorted(set(missing.values())))}",
    )


def leftovers() -> Finding:
    """Removes the labs of dead processes, and reports what could not be removed."""
    sentences = sweep()
    still = [sentence for sentence in sentences if not sentence.startswith("Removed")]
    if not still:
        return good("labs of dead processes", " ".join(sentences) or "none")
    return costs(
        "labs of dead processes",
        " ".join(still),
        cost="their namespaces and processes still exist",
        remedy="# remove them with ip netns del, or end them with kill",
    )


def af_xdp() -> Finding:
    """Tries AF_XDP on a veth pair that is made for the check."""
    name, loop = "AF_XDP", VethLoop()
    try:
        loop.start()
        kind = loop.describe()["device_kind"]
    except NatxyError as error:
        return costs(name, error.in_options, cost="no labs", remedy="# see docs/privileges.md")
    finally:
        loop.stop()
    if kind == "af_xdp":
        return good(name, "works on a veth")
    return costs(
        name,
        f"{kind.partition('since ')[2]}; packet sockets are used instead",
        cost="a lab's tester reaches 0.5 to 0.7 of the rate, with longer delays",
        remedy="# use a kernel with CONFIG_XDP_SOCKETS; give a container CAP_BPF and CAP_NET_ADMIN",
    )
