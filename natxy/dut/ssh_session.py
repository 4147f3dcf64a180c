"""One SSH connection to a machine, on which commands are run one after another.

asyncssh runs in a thread of its own, so that any thread can run a command and wait for it.
"""

import asyncio
import contextlib
import re
import shlex
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from natxy.dut.config import SshConfig
from natxy.errors import DutError
from natxy.model.source import with_home
from natxy.program_output import AT_ONCE_BYTES, LIMIT_BYTES, OutputTooLong

T = TypeVar("T")
# A host that goes away says nothing: it is noticed after this time. One small frame in 5 s on the
# management network does not disturb a trial.
KEEPALIVE_S, KEEPALIVES = 5, 2
CLOSES_WITHIN_S = 5.0
# What a shell does first. It leads a process group, so its number names all that it starts; sshd
# passes no signal on to a user who logs in as root. Numbers have points in this locale.
BEGIN = "echo natxy-shell $$ >&2; LC_ALL=C; export LC_ALL; "
BEGUN = re.compile(r"\Anatxy-shell (\d+)\n")
CLOSES_AFTER_CHANNELS_S = 0.2


class Lost(DutError):
    """The host cannot be reached, or the connection to it is lost."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The end of a command; `status` is None if the gateway does not tell."""

    status: int | None
    output: str
    errors: str


class SshSession:
    """A session of asyncssh; `shell` tells whether the machine has a shell of POSIX."""

    def __init__(self, config: SshConfig, *, shell: bool = True) -> None:
        self._config = config
        self._shell = shell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connection: Any = None

    def open(self) -> None:
        """Connects, unless it is connected; raises DutError, or Lost if nobody answers."""
        if self._connection is not None and not self._connection.is_closed():
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="natxy-ssh", daemon=True
            )
            self._thread.start()
        try:
            self._connection = self._wait(self._connect())
        except BaseException:
            self.close()
            raise

    def run(self, where: str, command: str) -> Ended:
        """Runs a command; DutError if it takes too long, Lost if the host goes away."""
        begin = time.monotonic()
        try:
            ended = self._wait(self._run(where, command))
        except BaseException as error:
            self._log(f"{time.monotonic() - begin:.3f} s  {error or type(error).__name__}", command)
            raise
        self._log(f"{time.monotonic() - begin:.3f} s  status {ended.status}", command)
        return ended

    def close(self) -> None:
        """Closes the connection; may be called twice."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(_closed(connection), loop).result(CLOSES_WITHIN_S)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join()
        loop.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._loop is not None, "a session is open"
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise Lost(f"{self._host}: the connection was closed.") from None
        except BaseException:  # Ctrl-C ends the wait here, which ends the command there
            future.cancel()
            raise

    async def _connect(self) -> Any:
        import asyncssh

        config, host = self._config, self._host
        known = str(with_home(config.known_hosts))
        key = None if config.key is None else str(with_home(config.key))
        own_key: dict[str, Any] = {} if key is None else {"client_keys": [key], "agent_path": None}
        try:
            return await asyncssh.connect(
                config.host,
                config.port,
                username=config.user,
                known_hosts=known,
                config=None,  # only the testbed says how
                preferred_auth="publickey",
                connect_timeout=config.connect_timeout_s,
                login_timeout=config.connect_timeout_s,
                keepalive_interval=KEEPALIVE_S,
                keepalive_count_max=KEEPALIVES,
                **own_key,
            )
        except asyncssh.HostKeyNotVerifiable as error:
            raise DutError(
                f"dut.known_hosts: {known} does not have the host key of {host}: {error.reason} "
                "(expected a line that you have compared with the host's own key)."
            ) from None
        except asyncssh.PermissionDenied:
            raise DutError(
                f"dut.key: {host} refused {key or 'all keys'} of user {config.user} (expected a "
                "key that its authorized_keys has)."
            ) from None
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise DutError(
                f"dut.key: {key}: {error} (expected a private key without passphrase, or none and "
                "an agent)."
            ) from None
        except FileNotFoundError as error:
            name = "known_hosts" if str(error.filename) == known else "key"
            raise DutError(f"dut.{name}: {error.filename}: there is no such file.") from None
        except (OSError, TimeoutError, asyncssh.Error) as error:
            reason = str(error) or f"no answer within {config.connect_timeout_s:g} s"
            raise Lost(f"dut.host: {host} cannot be reached: {reason}.") from None

    async def _run(self, where: str, command: str) -> Ended:
        import asyncssh

        try:
            text = f"exec sh -c {shlex.quote(BEGIN + command)}" if self._shell else command
            process = await self._connection.create_process(
                text, stdin=asyncssh.DEVNULL, encoding="utf-8", errors="replace"
            )
            output, errors = list[str](), list[str]()  # what it has printed so far
            try:
                await asyncio.wait_for(_read(process, output, errors), self._config.timeout_s)
            except BaseException:
                with contextlib.suppress(OSError, asyncssh.Error):
                    await self._end(process, "".join(errors))
                raise
        except TimeoutError:
            raise DutError(
                f"{where}: `{command}` on {self._host} did not end within dut.timeout_s = "
                f"{self._config.timeout_s:g} s (expected a command that ends)."
            ) from None
        except OutputTooLong as error:
            raise DutError(f"{where}: `{command}` on {self._host} {error}.") from None
        except (OSError, asyncssh.Error) as error:
            raise Lost(
                f"{where}: the connection to {self._host} was lost: {error} (expected a host that "
                "stays until the measurement ends)."
            ) from None
        if process.exit_status is None and await self._is_closing():
            raise Lost(f"{where}: the connection to {self._host} was lost during `{command}`.")
        return Ended(
            status=process.exit_status,
            output="".join(output),
            errors=BEGUN.sub("", "".join(errors)),
        )

    async def _end(self, process: Any, errors: str) -> None:
        """Ends all that a command started; closing its channel would leave it running."""
        begun = BEGUN.match(errors)
        process.kill()
        process.close()
        if begun:
            kill = self._connection.run(f"exec sh -c 'kill -9 -{begun[1]}'")
            await asyncio.wait_for(kill, CLOSES_WITHIN_S)

    async def _is_closing(self) -> bool:
        """Returns whether the connection ends; it does so a moment after its channels."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._connection.wait_closed(), CLOSES_AFTER_CHANNELS_S)
        return bool(self._connection.is_closed())

    @property
    def _host(self) -> str:
        port = "" if self._config.port == 22 else f" port {self._config.port}"
        return f"{self._config.host}{port}"

    def _log(self, end: str, command: str) -> None:
        if self._config.log is None:
            return
        try:
            with with_home(self._config.log).open("a", encoding="utf-8") as log:
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                log.write(f"{now}  {self._host}  {end}  {command}\n")
        except OSError as error:
            raise DutError(
                f"dut.log: {self._config.log}: cannot be written: {error.strerror}."
            ) from None


async def _read(process: Any, output: list[str], errors: list[str]) -> None:
    """Adds what a command prints, to its end; raises OutputTooLong."""
    left_bytes = LIMIT_BYTES

    async def read(stream: Any, parts: list[str]) -> None:
        nonlocal left_bytes
        while text := await stream.read(AT_ONCE_BYTES):
            parts.append(text)
            left_bytes -= len(text)
            if left_bytes < 0:
                raise OutputTooLong

    await asyncio.gather(read(process.stdout, output), read(process.stderr, errors))
    await process.wait_closed()


async def _closed(connection: Any) -> None:
    connection.close()
    await connection.wait_closed()
