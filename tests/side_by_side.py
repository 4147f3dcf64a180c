"""Tests that can run beside others, but not beside each other: pytest-xdist gives a group to one of
its processes (`--dist=loadgroup`).

The marks of pytest-xdist 3.8 do the same, but have no effect with pytest 9.2.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# What a test's identifier begins with, and its group.
GROUPS = {
    "tests/engine/test_memif_restart.py": "engine",  # some are about time: not all at once
    "tests/engine/test_process.py": "engine",
    "tests/frames/test_capture.py": "capture",  # all need the same captured frames
    "tests/frames/test_tcpdump.py": "formats",  # the same frames of all formats
    "tests/frames/test_tshark.py": "formats",
    # A lab removes what one that was killed has left, which a test looks for, and settings of
    # conntrack are those of the whole machine.
    "tests/labs/test_documented_commands.py": "labs",
    "tests/labs/test_forwarding.py": "labs",
    "tests/labs/test_lifecycle.py": "labs",
    "tests/labs/test_stateful_duts.py": "labs",
    "tests/labs/test_vlans_on_veths.py": "labs",
    # A recipe sets the hash size of the machine, too. The address of a gateway's management is the
    # same for all of them.
    "tests/labs/test_ssh_connection.py": "labs",
    "tests/labs/test_ssh_recipes.py": "labs",
    "tests/labs/test_tcp_conntrack.py": "tcp",  # the names of the namespaces are the same
}


def group_of(nodeid: str) -> str:
    """Returns the group, or the test itself, which is then a group of one."""
    return next((group for begin, group in GROUPS.items() if nodeid.startswith(begin)), nodeid)


def in_groups(config: pytest.Config, log: Any) -> Any:
    """Returns what gives pytest-xdist's processes their tests."""
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = group_of
    return scheduler
