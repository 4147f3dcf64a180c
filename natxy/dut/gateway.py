"""The gateway of a lab: what its recipe makes at its site, with the kernel's table."""

from contextlib import suppress
from typing import ClassVar

from natxy.dut.addresses import CLAT_PREFIX, LEFT, NAT64_PREFIX, RIGHT, VIRTUAL_IPV6_PREFIX
from natxy.dut.base import ConnectionTable
from natxy.dut.conntrack import Conntrack
from natxy.dut.execution import TIMEOUT_S
from natxy.dut.recipe import Filled, Recipe
from natxy.dut.site import Site
from natxy.errors import DutError
from natxy.model.reason import Reason

EMPTIED = "connection tracking table emptied"


class Gateway:
    """What `files`, `set_up` and `daemons` of a recipe make, at a site whose links are up, with
    addresses and routes.

    A recipe without daemons is the kernel; if it also has no commands, it is a router.
    """

    table: ConnectionTable | None  # None: it is stateless
    sets_up_within_s: ClassVar[float] = TIMEOUT_S  # each command

    def __init__(self, site: Site, recipe: Recipe, conntrack: Conntrack | None) -> None:
        self._site = site
        self._lab = recipe.in_lab
        self._recipe = Filled(recipe=recipe, values=lab_values(site))
        self._conntrack = self.table = conntrack
        self._daemons = [
            (site.front if daemon.front else site).daemon(
                daemon, self._recipe.words(daemon.command)
            )
            for daemon in recipe.daemons
        ]

    def start(self) -> None:
        """Starts what changes frames on their way, or raises DutError."""
        self._site.load(self._lab.modules)
        self._set_up()
        if self._conntrack is not None:
            self._conntrack.start()

    def stop(self) -> None:
        """Stops what `start` started; the lab removes the place with all that is in it."""
        for daemon in reversed(self._daemons):
            daemon.stop()
        if self._conntrack is not None:
            self._conntrack.stop()

    def check(self) -> None:
        """Raises DutError if the gateway has ended."""
        for daemon in self._daemons:
            daemon.check()

    def reset(self) -> None:
        """Removes the state that a trial leaves behind."""
        if self._conntrack is not None:
            self._conntrack.clear()

    def restart(self) -> str:
        """Restarts, while frames arrive, its daemons, or, if it has none, forwarding."""
        done = [] if self._daemons else [self._site.restart_forwarding()]
        for daemon in self._daemons:
            daemon.kill()
            daemon.start()
            done.append(
                f"{daemon.daemon.role}software reset: {daemon.daemon.program} killed and started "
                "again"
            )
        self.reset()
        return "; ".join(done) + f", {EMPTIED}" * (self._conntrack is not None)

    def recover(self) -> None:
        """Restores the state after `start` in a namespace; links, addresses and routes exist."""
        for daemon in self._daemons:
            daemon.stop()
        for command in self._recipe.commands("take_down_front"):
            _run_if_it_can(self._site.front, command)
        for command in self._recipe.commands("take_down"):
            _run_if_it_can(self._site, command)
        self._set_up()
        if not self._daemons and not self._recipe.recipe.commands.set_up:
            self._site.restart_forwarding()
        self.reset()

    def renew(self) -> None:
        """Restores the state after `start` in a guest: an empty table as it was then."""
        if self._conntrack is not None:
            self._conntrack.renew()

    def describe(self) -> dict[str, str]:
        texts = [text for text in (*self._files().values(), self._lab.configuration) if text]
        described = {"software": "; ".join(self._software())}
        if texts:
            described["configuration"] = "; ".join(map(self._recipe.text, texts))
        described |= {name: self._recipe.text(text) for name, text in self._lab.facts.items()}
        return described | (self._conntrack.describe() if self._conntrack is not None else {})

    @property
    def processes(self) -> tuple[int, ...]:
        """Process numbers of programs that translate, beside the kernel's own threads."""
        return tuple(pid for daemon in self._daemons for pid in daemon.pids)

    def fault(self) -> Reason | None:
        """Returns a reason if the last trial is invalid because the gateway was disturbed."""
        return self._conntrack.fault() if self._conntrack is not None else None

    def _files(self) -> dict[str, str]:
        return self._recipe.files()

    def _set_up(self) -> None:
        for name, text in self._files().items():
            self._site.write(self._site.folder / name, text)
        for command in self._recipe.commands("set_up_front"):
            self._site.front.run(command)
        for command in self._recipe.commands("set_up"):
            self._site.run(command, within_s=self.sets_up_within_s)
        for daemon in self._daemons:
            daemon.start()

    def _software(self) -> list[str]:
        daemons = [
            f"{each.daemon.role}{each.daemon.program} {each.version}".rstrip()
            for each in self._daemons
        ]
        version = self._site.version(self._lab.version) if self._lab.version else ""
        return [each for each in (*daemons, self._lab.software, version) if each]


def _run_if_it_can(site: Site, command: str) -> None:
    with suppress(DutError):  # it had not been set up
        site.run(command)


def lab_values(site: Site) -> dict[str, str]:
    """Returns the values of a recipe's variables in a lab (OF_LABS and SITE of recipe.py)."""
    plan = site.plan
    inside, outside = plan.inside, plan.outside
    shown = dict(plan.double_mappings())
    return {
        "folder": str(site.folder),
        "mtu_bytes": str(site.inner_mtu_bytes),
        "inside": site.end(inside),
        "outside": site.end(outside),
        "inside_network": inside.ipv4_prefix,
        "outside_network": outside.ipv4_prefix,
        # Two gateways in a row: IPv4 alone at the tester, IPv6 alone between the two.
        "inside_hosts_as_six": shown[inside.ipv4_prefix],
        "outside_hosts_as_six": shown[outside.ipv4_prefix],
        "clat_prefix": CLAT_PREFIX,
        "nat64_prefix": NAT64_PREFIX,
        **(_of_translation(site) if plan.translates else {}),
    }


def _of_translation(site: Site) -> dict[str, str]:
    """Returns the mappings between the IPv6 side and the IPv4 side, one for each network."""
    six, four = (LEFT, RIGHT) if site.plan.left_ip_version == 6 else (RIGHT, LEFT)
    mappings = site.plan.mappings()
    half = len(mappings) // 2
    of_six, of_four = mappings[:half], mappings[half:]
    return {
        "six": site.end(six),
        "four": site.end(four),
        "six_hosts": " ".join(ipv6 for _, ipv6 in of_six),
        "six_hosts_as_four": " ".join(ipv4 for ipv4, _ in of_six),
        "four_hosts": " ".join(ipv4 for ipv4, _ in of_four),
        "four_hosts_as_six": " ".join(ipv6 for _, ipv6 in of_four),
        "six_network_as_four": six.ipv4_prefix,
        "four_network_as_six": VIRTUAL_IPV6_PREFIX,
    }
