"""A gateway on a machine of its own, which the commands of a recipe control over SSH."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from natxy.dut.base import TableParameters
from natxy.dut.commanded import Commanded, show_on_stderr
from natxy.dut.config import SshConfig
from natxy.dut.recipe import CORES, ENTRIES, HASH_SIZE, TIMEOUT, Filled
from natxy.dut.ssh_session import Lost, SshSession
from natxy.errors import ConfigurationError, DutError
from natxy.interrupts import without_interrupts

VARIABLES = {"timeout_s": TIMEOUT, "entries": ENTRIES, "hash_size": HASH_SIZE, "cores": CORES}
UNDOING = ("stop", "clean_up")


def check_installed() -> None:
    """Raises ConfigurationError if the extra is not installed."""
    if find_spec("asyncssh") is None:
        raise ConfigurationError(
            'dut.kind: "ssh" needs the Python package asyncssh, which is not installed (`pip '
            'install "natxy[ssh]"` installs it)'
        )


class SshDut(Commanded):
    """Runs a recipe. Each command is shown before it runs, and is a channel of one connection.

    The variables udp_timeout_s, entries, hash_size and cores keep the values that a measurement
    has set, so that a command that makes the gateway anew sets them again.
    """

    def __init__(
        self,
        config: SshConfig,
        filled: Filled,
        *,
        session: SshSession | None = None,
        show: Callable[[str, str], None] = show_on_stderr,
    ) -> None:
        self._config = config
        self._filled = filled
        shell = filled.recipe.shell
        self._session = SshSession(config, shell=shell) if session is None else session
        self._lost = False
        timeout_s = filled.number(TIMEOUT)
        super().__init__(
            show,
            TableParameters(
                entries=filled.number(ENTRIES),
                hash_size=filled.number(HASH_SIZE),
                timeout_s=None if timeout_s is None else float(timeout_s),
            )
            if filled.recipe.stateful
            else TableParameters(),
        )

    def start(self) -> None:
        """Connects, checks the programs, and runs `prepare` and `start`."""
        self._lost = False
        try:
            self._session.open()
            self.check_programs()
            self._started = True
            self._run_all("prepare")
            self.run("start")
        except BaseException:
            with without_interrupts():
                self._undo()
            raise

    def stop(self) -> None:
        """Runs `stop` and `clean_up`; raises what failed, unless the host had gone before."""
        with without_interrupts():
            failed = self._undo()
        if failed is not None:
            raise failed

    def recover(self) -> None:
        """Runs `stop` to its end, whatever of it fails, then `start`."""
        failed = self._run_to_the_end(("stop",))
        if isinstance(failed, Lost):
            raise failed
        if failed is not None:
            self._show("stop", str(failed))
        self.run("start")

    def open(self) -> None:
        """Connects without running anything; `close` ends it."""
        self._session.open()

    def close(self) -> None:
        self._session.close()

    def check_programs(self) -> None:
        """Raises DutError if the machine does not have the recipe's programs."""
        for program in self._filled.recipe.programs:
            ended = self._session.run("dut.recipe", f"command -v {program}")
            if ended.status != 0:
                recipe = self._filled.recipe
                raise DutError(
                    f"dut.recipe {recipe.name}: {self._config.host} has no program `{program}` "
                    f"(expected what the recipe needs: {recipe.packages or program})."
                )

    def describe(self) -> dict[str, str]:
        recipe = self._filled.recipe
        return {
            "kind": "ssh",
            "name": recipe.name,
            "host": self._config.host,
            "software": recipe.title,
            "variables": json.dumps(dict(self._filled.values)),
            "recipe": recipe.model_dump_json(exclude_defaults=True),
            "description": self.run("describe"),
        }

    def can(self, key: str) -> bool:
        keys = ("set_entries", "set_hash_size") if key == "resize" else (key,)
        recipe = self._filled.recipe
        if key == "restart" and recipe.daemons:
            return True
        return any(recipe.commands.of(each) for each in keys)

    def text(self, key: str) -> str:
        return "; ".join(self._filled.of_a_machine(key))

    def where(self, key: str) -> str:
        return f"dut.recipe {self._filled.recipe.name}, {key}"

    def missing(self, key: str) -> DutError:
        return DutError(
            f"{self.where(key)}: the recipe has no such commands (expected [commands])."
        )

    def run(self, key: str, values: Mapping[str, str] | None = None) -> str:
        """Runs the commands of a key; the values are kept if all succeed."""
        given = {VARIABLES[name]: value for name, value in (values or {}).items() if value}
        before = self._filled
        self._filled = before.with_values(**given)
        try:
            if key == "resize":
                return self._resize(given)
            return self._run_all(key)
        except BaseException:
            self._filled = before
            raise

    def _resize(self, given: Mapping[str, str]) -> str:
        keys = [f"set_{name}" for name in given]
        for key in keys:
            if not self.can(key):
                raise self.missing(key)
        for key in keys:
            self._run_all(key)
        return ""

    def _run_all(self, key: str) -> str:
        """Runs the commands in order, and returns what they printed."""
        return "\n".join(self._run_one(key, command) for command in self._filled.of_a_machine(key))

    def _run_to_the_end(self, keys: Sequence[str]) -> DutError | None:
        """Runs the commands of keys, whatever of them fails, until the host is lost.

        Returns that it was lost, or else what failed first.
        """
        failed: DutError | None = None
        commands = [(key, command) for key in keys for command in self._filled.of_a_machine(key)]
        for key, command in commands:
            try:
                self._run_one(key, command)
            except Lost as lost:
                return lost
            except DutError as error:
                failed = failed or error
        return failed

    def _run_one(self, key: str, command: str) -> str:
        self._show(key, command)
        try:
            self._session.open()
            ended = self._session.run(self.where(key), command)
        except Lost:
            self._lost = True
            raise
        said = (ended.errors.strip() or ended.output.strip()).splitlines() or ["it printed nothing"]
        if ended.status not in (0, None):
            raise DutError(
                f"{self.where(key)}: `{command}` ended with status {ended.status}: {said[-1]}"
            )
        pattern = self._filled.recipe.error_pattern
        if pattern and key != "describe":  # whose text is free
            for line in (ended.output + ended.errors).splitlines():
                if re.search(pattern, line):
                    raise DutError(f"{self.where(key)}: `{command}` failed: {line.strip()}")
        if key == "count" and (pattern := self._filled.recipe.count_pattern):
            numbers = re.findall(pattern, ended.output)
            return str(numbers[-1]) if numbers else ended.output.strip()
        return ended.output.strip()

    def _undo(self) -> DutError | None:
        """Runs all that undoes `start`, closes the connection, and returns what failed.

        If the host has gone, one attempt is made to reach it again. What then fails is shown on
        standard error and not returned, so that the sentence about the lost host stays the one
        that is read.
        """
        failed: DutError | None = None
        had_gone, started, self._started = self._lost, self._started, False
        try:
            if started:
                failed = self._run_to_the_end(UNDOING)
        finally:
            self._session.close()
        if failed is not None and had_gone:
            self._show("stop", f"what the recipe set up on {self._config.host} may still be there")
            return None
        return failed
