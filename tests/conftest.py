"""No test writes into the state folder of the person who runs it; some run under noise.

Nor does one lock CPUs for others: who tests on a machine that somebody measures on knows it.
"""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.noise import taken

# The host of a virtual machine may take a core away for longer than hypothesis' deadline of 200 ms.
hypothesis.settings.register_profile("natxy", deadline=None)
hypothesis.settings.load_profile("natxy")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Lets the garbage collector pass over the tests themselves, which stay to the end: it takes a
    third of the time of their collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests in noise that are there without noise, too: where the whole suite runs
    in noise, they would be the same test twice."""
    if "NATXY_NOISE" not in os.environ:
        return
    quiet = [_test_of(item) for item in items if _noise_of(item) == "0%"]
    twice = [
        item for item in items if _noise_of(item) not in (None, "0%") and _test_of(item) in quiet
    ]
    config.hook.pytest_deselected(items=twice)
    items[:] = [item for item in items if item not in twice]


def _noise_of(item: pytest.Item) -> object:
    return item.callspec.params.get("noise") if hasattr(item, "callspec") else None


def _test_of(item: pytest.Item) -> tuple[str, dict[str, object]]:
    """Returns the test and its other parameters."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    others = {name: value for name, value in params.items() if name != "noise"}
    return item.nodeid.partition("[")[0], others


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Has the groups of tests/side_by_side.py made; None: pytest-xdist chooses."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.side_by_side import in_groups

    return in_groups(config, log)


@pytest.fixture(autouse=True, scope="session")
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("state")
        patched.setenv("XDG_STATE_HOME", os.fspath(folder))
        patched.setenv("NATXY_LOCKS", os.fspath(tmp_path_factory.mktemp("locks")))
        yield folder


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_is_heard() -> Iterator[None]:
    """Sets SIGINT's default, also for the programs that a test starts: a script's background job
    and `nohup` hand it down as ignored, and then no test of Ctrl-C can hold."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.fixture
def noise(request: pytest.FixtureRequest) -> Iterator[str]:
    """Takes 5 % of each core away while the test runs, or the share that the test names, with other
    options of tools/noise behind it:
    `@pytest.mark.parametrize("noise", ["0%", "5%", "5% --cpus 1"], indirect=True)`.

    Returns the share. Where the whole suite runs in noise, that is its share instead of 0 %."""
    share, *options = getattr(request, "param", "5%").split()
    if os.geteuid() != 0:
        pytest.skip("noise needs root")
    whole = os.environ.get("NATXY_NOISE", "0%")
    if share in ("0%", whole) and not options:
        yield whole  # twice would be another share
        return
    with taken(share, *options):
        yield share
