"""`natxy serve`: shows a campaign in a browser while it runs."""

import json
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Annotated, Any

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.journal import as_journal
from natxy.campaign.plan import Cell, plan_again
from natxy.campaign.records import CampaignState, read_campaign
from natxy.campaign.report import page_of, rate_quantity
from natxy.campaign.trial_points import trial_members
from natxy.cli.campaign_server import HTML, CampaignServer, Page, take_lowest_priority
from natxy.cli.campaigns import pace_of, tell
from natxy.cli.metrics import CONTENT_TYPE, metrics
from natxy.cli.run import FolderArgument
from natxy.cli.status import left_of, said_of
from natxy.errors import ConfigurationError
from natxy.exact import check
from natxy.report.campaign_html import POLICY
from natxy.report.html_text import EVENTS, LIVE_POLICY, live_page
from natxy.setting import Setting
from natxy.visible import visible

LOOPBACK = "127.0.0.1"
PORT = Setting("port", "TCP port; 0 takes a free one", "N", short="TCP port; 0 takes a free one")
HIGHEST_PORT = 2**16 - 1
MOST_TRIALS = 500  # of the cell that runs, the newest ones


def serve(
    folder: FolderArgument,
    host: Annotated[
        str,
        Setting(
            "host",
            "Address to listen on. With another address than the default, the pages can be read "
            "from the network without a password",
            "ADDRESS",
            short="Address to listen on; the default is this machine only",
        ),
    ] = LOOPBACK,
    port: Annotated[int, PORT] = 8000,
) -> None:
    """Show a campaign in a browser while it runs, by default on this machine only.

    Its figures and its progress for Prometheus are at /metrics.

    Examples:
        natxy serve natxy-results/monday
        natxy serve natxy-results/monday --port 0
        natxy serve natxy-results/monday --host 192.0.2.1
    """
    check(PORT, port, lowest=0, highest=HIGHEST_PORT)
    with served(folder, host, port) as server:
        take_lowest_priority()
        address, number = server.server_address[:2]
        shown = f"[{address!s}]" if ":" in str(address) else str(address)
        tell(f"http://{shown}:{number} shows {folder}; Ctrl-C ends it.")
        server.serve_forever()


def served(folder: Path, host: str = LOOPBACK, port: int = 0) -> CampaignServer:
    """Returns a server of the campaign's pages that has not started yet."""
    campaign = CampaignFolder(path=folder)
    campaign.asked()

    def of(make: Callable[[], str], policy: str, content_type: str = HTML) -> Page:
        return Page(
            make=make, data=lambda: _data(campaign), policy=policy, content_type=content_type
        )

    pages = {
        "/": of(lambda: live_page(live(campaign)), LIVE_POLICY),
        "/report.html": of(lambda: page_of(read_data(folder)), POLICY),
        "/metrics": of(lambda: metrics(campaign), POLICY, CONTENT_TYPE),
    }
    events = {EVENTS: of(lambda: json.dumps(live(campaign)), LIVE_POLICY)}
    try:
        return CampaignServer(host, port, pages, events)
    except OSError as error:
        raise ConfigurationError(
            f"{host}:{port}: cannot be listened on: {error.strerror}"
        ) from None


def _data(campaign: CampaignFolder) -> Hashable:
    """Returns what differs when the journal has changed, or the campaign has ended."""
    of = campaign.journal.stat()
    return campaign.is_run, of.st_ino, of.st_mtime_ns, of.st_size


def live(campaign: CampaignFolder) -> dict[str, Any]:
    """Returns what the page of the campaign shows, as its journal is now: JSON values."""
    asked, state = campaign.asked(), read_campaign(campaign.journal)
    plan = plan_again(asked.experiment, asked.testbed, state.header)
    runs = campaign.is_run
    cells = [_cell(cell, state, runs=runs) for cell in plan.cells]
    still = [cell for cell in plan.cells if not state.ended(cell.key)]
    last = state.cells.get(state.last)
    with as_journal(campaign.journal):
        past = last.past if runs and last else ()
        records = [record for record in past if record["record"] == "trial"]
        trials = [trial_members(record) for record in records[-MOST_TRIALS:]]
    command = next((each.measure.command for each in plan.cells if each.key == state.last), "")
    return {
        "title": visible(asked.experiment.title),
        "ended": sum(cell["ended"] for cell in cells),
        "failed": sum(cell["state"] == "failed" for cell in cells),
        "left": left_of(still, pace_of(plan, state, testbeds=len(asked.testbeds))),
        "cells": cells,
        "trials": trials,
        "total": len(records),
        "quantity": rate_quantity(command),
    }


def _cell(cell: Cell, state: CampaignState, *, runs: bool) -> dict[str, Any]:
    known = state.cells.get(cell.key)
    running = runs and cell.key == state.last and known is not None and known.end is None
    name = f"{cell.title}, round {cell.round}" if cell.round > 1 else cell.title
    return {
        "name": visible(name),
        "said": visible(said_of(cell, state, runs=runs)),
        "state": "running" if running else "failed" if known and known.failed else "",
        "ended": state.ended(cell.key),
    }
