"""What a campaign would run to control its gateways, for `natxy plan`."""

from collections.abc import Iterator, Sequence
from typing import Any

from natxy.campaign.plan import CampaignPlan
from natxy.dut.config import CommandConfig, SshConfig


def gateway_commands(plans: Sequence[CampaignPlan]) -> Iterator[str]:
    """Yields a line for each line of a command, once for all cells whose gateway has it."""
    lines = (
        line for plan in plans for cell in plan.cells for line in _lines(cell.testbed.get("dut"))
    )
    yield from dict.fromkeys(lines)


def _lines(section: Any) -> Iterator[str]:
    match section:
        case {"kind": "command"}:
            for key, command in CommandConfig.model_validate(section):
                if key != "kind" and isinstance(command, str):
                    yield from (f"dut.{key}: {line}" for line in command.split("\n"))
        case {"kind": "ssh"}:
            config = SshConfig.model_validate(section)
            yield (
                f"dut.recipe: {config.recipe} as {config.user} on {config.host} (`natxy dut show "
                f"{config.recipe}` shows its commands)"
            )
