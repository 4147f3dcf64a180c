"""The stored self-tests of this machine, with the tester's own delay for each kind of port.

They are in $XDG_STATE_HOME/natxy (or ~/.local/state/natxy): the newest for each kind of port, link
speed, CPU, number of workers and IP version.
"""

import json
import os
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from natxy.model.event import Hello
from natxy.model.self_test_record import SelfTestRecord, TesterIdentity
from natxy.model.testbed import TrafficSection
from natxy.whole_file import is_stream

FILE_NAME = "self-tests.json"
RECORDS: TypeAdapter[list[SelfTestRecord]] = TypeAdapter(list[SelfTestRecord])


def state_file() -> Path:
    given = os.environ.get("XDG_STATE_HOME")
    folder = Path(given) if given else _home() / ".local" / "state"
    return folder / "natxy" / FILE_NAME


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user of a container whom no file knows
        return Path("/")


def with_self_test(record: SelfTestRecord, path: Path) -> str:
    """Returns the file's text with this record in place of the last one of its kind."""
    others = [each for each in _known(path) if _kind(each.tester) != _kind(record.tester)]
    kept = [each.model_dump(mode="json") for each in (*others, record)]
    return json.dumps(kept, indent=2) + "\n"


def known_self_test(hello: Hello, traffic: TrafficSection) -> SelfTestRecord | None:
    """Returns the self-test of such a tester; None if there is none, or the file is unreadable."""
    wanted = _kind(TesterIdentity.of(hello, traffic))
    for record in _known(state_file()):
        if _kind(record.tester) == wanted and record.delays:
            return record
    return None


def unreadable() -> Path | None:
    """Returns the file's path if it cannot be read: another version wrote it, or it is damaged."""
    path = state_file()
    try:
        RECORDS.validate_json(path.read_bytes())
    except ValidationError:
        return path
    except OSError:
        return None
    return None


def _kind(tester: TesterIdentity) -> TesterIdentity:
    """Returns the identity without the version: an older version's delay is used, and named."""
    return tester.model_copy(update={"engine_version": "", "variant": ""})


def _known(path: Path) -> list[SelfTestRecord]:
    """Returns the records of a file, none if it is missing, unreadable, or a device or pipe."""
    if is_stream(path):
        return []
    try:
        return RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return []
