"""What tests of stateful verbs share with others."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

from natxy.campaign.journal import read_journal
from natxy.dut.recipe import drivers
from tests.command import natxy
from tests.valid import Done, valid_run

# The lab's NAT44, with a rule that drops what connection tracking does not find in its windows.
INVALID_DROP = "ct state invalid drop"
ENTRIES = 4096
COMMON = """\
[tester]
lateness_tolerance_us = 20000
[connections]
count = 1024
rate_fps = 10000
incomplete = "repeat"
"""
NAT44 = f"""\
{COMMON}
[traffic]
left_ip_version = 4
right_ip_version = 4
[dut]
kind = "namespace"
driver = "nat44"
conntrack_entries = {ENTRIES}
"""
TCP = NAT44.replace("[connections]", '[connections]\ntransport = "tcp"').replace(
    "[traffic]", "[traffic]\nframe_size_bytes = 98"
)
QUICK = ("--profile", "quick", "--repetitions", "1", "--seed", "5", "--json")


# A rate that each gateway surely does, also while the host lets its core do other work.
UP_TO_4000 = ("--max-rate", "4000")


def run(verb: str, testbed: str, folder: Path, *options: str) -> Done:
    path = folder / "testbed.toml"
    path.write_text(testbed)
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)  # of an attempt that was not valid
    words = (verb, str(path), *QUICK, *options, "--output", str(results))
    return natxy(*words, before=_drop_invalid if testbed == TCP else None)


def _drop_invalid() -> None:
    """Adds the rule INVALID_DROP to the lab's NAT44."""
    chain = f"  chain strict {{ type filter hook forward priority filter; {INVALID_DROP}; }}"
    files = drivers("namespace")["nat44"].files
    files["natxy.nft"] = files["natxy.nft"].removesuffix("}\n") + chain + "\n}\n"


def measured(verb: str, testbed: str, folder: Path, *options: str) -> dict[str, Any]:
    """The entry of results.json; in no trial was a frame misdelivered or a mapping changed."""
    done = valid_run(lambda: run(verb, testbed, folder, *options))
    assert done.returncode == 0, done.stderr[-2000:]
    (entry,) = json.loads(done.stdout)
    for trial in read_journal(folder / "results" / "journal.jsonl.gz"):
        if trial["record"] == "campaign":
            # TCP's connections pass a gateway that drops what is not in their windows.
            assert (INVALID_DROP in json.dumps(trial)) == (testbed == TCP)
        if trial["record"] != "trial":
            continue
        for stream in [*trial["result"]["streams"], *filter(None, [trial["phase_1"]])]:
            assert stream["kinds"]["foreground"]["misdelivered"]["total"] == 0
            assert stream["connections"]["changed"] == 0
            assert stream["connections"]["collided"] == 0
    rows = csv.DictReader((folder / "results" / "results.csv").read_text().splitlines())
    assert len(list(rows)) == len(entry["figures"])
    found: dict[str, Any] = entry
    return found


def values(entry: dict[str, Any]) -> dict[str, list[float]]:
    return {
        f"{figure['figure']} {figure['at']}".strip(): figure["values"]
        for figure in entry["figures"]
    }
