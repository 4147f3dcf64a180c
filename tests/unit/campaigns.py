"""A small campaign against the fake engine: its file, its plan, its run."""

from pathlib import Path
from typing import Any

from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.plan import CampaignPlan, plan_of
from natxy.cli.campaigns import start

EXPERIMENT = """\
title = "Throughput and loss over the frame size"
testbed = "testbed.toml"
seed = 7
rounds = 2
options = { profile = "quick", repetitions = 2, duration = 0.01 }

[[vary]]
key = "traffic.frame_size_bytes"
values = [84, 512]
label = "{} B"

[[measure]]
command = "throughput"
options = { error = "5%", max_rate = 200000 }

[[measure]]
command = "pdv"
options = { rate = 1000 }
"""


# The first line of a campaign's journal, as far as it must say something.
HEADER: dict[str, Any] = {
    "natxy_version": "0.1.0",
    "command": ["natxy run"],
    "seed": 7,
    "experiment": "title",
    "quick": False,
}


def planned(path: Path, **changes: Any) -> CampaignPlan:
    asked = read_asked(path)
    return plan_of(asked.experiment, asked.testbed, asked.experiment.seed or 0, **changes)


def run(path: Path, folder: Path) -> None:
    start(read_asked(path), planned(path), CampaignFolder(path=folder), "natxy run")
