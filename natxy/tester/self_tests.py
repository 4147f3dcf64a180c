"""The self-tests of this machine: what each kind of port was found to add to a delay.

They are kept in $XDG_STATE_HOME/natxy (or ~/.local/state/natxy), the newest of each kind of port,
CPU and number of workers.
"""

import json
import os
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from natxy.model.event import Hello
from natxy.model.self_test_record import SelfTestRecord, TesterIdentity

FILE_NAME = "self-tests.json"
RECORDS: TypeAdapter[list[SelfTestRecord]] = TypeAdapter(list[SelfTestRecord])


def state_file() -> Path:
    given = os.environ.get("XDG_STATE_HOME")
    folder = Path(given) if given else Path.home() / ".local" / "state"
    return folder / "natxy" / FILE_NAME


def with_self_test(record: SelfTestRecord, path: Path) -> str:
    """What the file holds, with this record in place of the last one of its kind."""
    others = [each for each in _known(path) if _kind(each.tester) != _kind(record.tester)]
    kept = [each.model_dump(mode="json") for each in (*others, record)]
    return json.dumps(kept, indent=2) + "\n"


def known_self_test(hello: Hello, path: Path | None = None) -> SelfTestRecord | None:
    """Of such a tester; None: there was none, or what was kept cannot be read."""
    wanted = _kind(TesterIdentity.of(hello))
    for record in _known(path or state_file()):
        if _kind(record.tester) == wanted and record.delays:
            return record
    return None


def _kind(tester: TesterIdentity) -> tuple[str, str, int]:
    return (tester.driver, tester.cpu_model, tester.workers)


def _known(path: Path) -> list[SelfTestRecord]:
    """A file of another version, or a spoilt one, is as good as none: it is written anew."""
    try:
        return RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return []
