"""A gateway in a lab, as its recipe says."""

from contextlib import suppress
from typing import ClassVar

from natxy.dut.conntrack import Conntrack
from natxy.dut.execution import TIMEOUT_S
from natxy.dut.gateway import Gateway, Site
from natxy.dut.lab_values import lab_values
from natxy.dut.recipe import Filled, Recipe
from natxy.errors import DutError
from natxy.model.reason import Reason

EMPTIED = "connection tracking table emptied"


class RecipeGateway(Gateway):
    """What `files`, `set_up` and `daemons` of a recipe make, with the kernel's table.

    A recipe without daemons is the kernel; if it also has no commands, it is a router.
    """

    table: Conntrack | None
    sets_up_within_s: ClassVar[float] = TIMEOUT_S  # each command

    def __init__(self, site: Site, recipe: Recipe, table: Conntrack | None) -> None:
        super().__init__(site)
        self._lab = recipe.in_lab
        self._recipe = Filled(recipe=recipe, values=lab_values(site))
        self.table = table
        self._daemons = [
            (site.front if daemon.front else site).daemon(
                daemon, self._recipe.words(daemon.command)
            )
            for daemon in recipe.daemons
        ]

    def start(self) -> None:
        self._site.load(self._lab.modules)
        self._set_up()
        if self.table is not None:
            self.table.start()

    def stop(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.stop()
        if self.table is not None:
            self.table.stop()

    def check(self) -> None:
        for daemon in self._daemons:
            daemon.check()

    def reset(self) -> None:
        if self.table is not None:
            self.table.clear()

    def restart(self) -> str:
        """Restarts its daemons, or, if it has none, forwarding."""
        done = [] if self._daemons else [self._site.restart_forwarding()]
        for daemon in self._daemons:
            daemon.kill()
            daemon.start()
            done.append(
                f"{daemon.daemon.role}software reset: {daemon.daemon.program} killed and started "
                "again"
            )
        self.reset()
        return "; ".join(done) + f", {EMPTIED}" * (self.table is not None)

    def recover(self) -> None:
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
        if self.table is not None:
            self.table.renew()

    def describe(self) -> dict[str, str]:
        texts = [text for text in (*self._files().values(), self._lab.configuration) if text]
        described = {"software": "; ".join(self._software())}
        if texts:
            described["configuration"] = "; ".join(map(self._recipe.text, texts))
        described |= {name: self._recipe.text(text) for name, text in self._lab.facts.items()}
        return described | (self.table.describe() if self.table is not None else {})

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(pid for daemon in self._daemons for pid in daemon.pids)

    def fault(self) -> Reason | None:
        return self.table.fault() if self.table is not None else None

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
