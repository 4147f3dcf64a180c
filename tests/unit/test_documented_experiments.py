"""The experiments of the documentation can be run: each is read and planned."""

from pathlib import Path

import pytest

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from natxy.cli import run_command
from natxy.cli.campaigns import check
from tests.documented_experiments import experiments_of, runs_of

TESTBEDS = Path(__file__).parents[2] / "experiments/testbeds"


@pytest.mark.parametrize(
    ("page", "named", "testbed"),
    [
        ("ci.md", "testbed.toml", "stateless-nat64.toml"),
        ("campaigns.md", "router.toml", "router.toml"),
    ],
)
@pytest.mark.parametrize("quick", [False, True])
def test_a_documented_experiment_can_be_planned(
    page: str, named: str, testbed: str, quick: bool, tmp_path: Path
) -> None:
    (tmp_path / named).write_text((TESTBEDS / testbed).read_text())
    (documented,) = experiments_of(page)
    path = tmp_path / "experiment.toml"
    path.write_text(documented)
    asked = read_asked(path)
    check(plan_of(asked.experiment, asked.testbed, 1, quick=quick))


def test_the_runs_with_jool_can_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/guest runs them."""
    monkeypatch.chdir(TESTBEDS.parents[1])
    runs = runs_of("jool.md")
    assert len({experiment for _, experiment, *_ in runs}) == 16
    for _, experiment, *options in runs:
        assert run_command(["plan", experiment, *options]) == 0
