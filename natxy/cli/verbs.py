"""The verbs of `natxy`, and the command that consists of them."""

import difflib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

import natxy

# As `natxy --help` lists them, each with the first paragraph of its function's docstring. To read
# that there, all modules would have to be imported.
GROUPS = {
    "Set up": {
        "demo": "Measure four gateways on this machine, with short trials, and write an HTML "
        "report.",
        "init": "Write a testbed file with a comment on every key.",
        "doctor": "Report what disturbs a measurement on this machine, its effect and the remedy.",
        "dut": "Show the drivers and recipes that control gateways, and check one.",
        "bindings": "Write the subscribers' addresses and port sets for the gateway, to standard "
        "output.",
        "self-test": "Find the highest rate that this tester reaches without loss, and its own "
        "delay.",
    },
    "Measure": {
        "trial": "Run one trial at a rate. The exit status is 1 if the trial was invalid.",
        "throughput": "Find the throughput (RFC 2544 section 26.1, RFC 8219).",
        "latency": "Measure typical and worst-case latency (RFC 8219 section 7.2).",
        "pdv": "Measure PDV: the delays' P99.9 minus their minimum (RFC 8219 section 7.3.1).",
        "ipdv": "Measure IPDV: minimum, median and maximum (RFC 8219 section 7.3.2).",
        "frame-loss": "Measure the frame loss rate at each offered rate (RFC 2544 section 26.3).",
        "back-to-back": "Find the longest burst without loss, and the buffer time (RFC 9004).",
        "recovery": "Measure the recovery from 110 % of the throughput (RFC 2544 section 26.5).",
        "reset": "Measure the time without forwarding after a reset (RFC 2544 section 26.6, RFC "
        "6201).",
        "overload": "Measure how a test's figures degrade with network flows (RFC 8219 section "
        "10).",
        "scale-up": "Measure how a figure grows with the gateway's cores (RFC 9693).",
    },
    "Stateful": {
        "establishment": "Measure the maximum connection establishment rate (RFC 9693).",
        "capacity": "Find the connection tracking table capacity (RFC 9693).",
        "tear-down": "Measure the connection tear-down rate (RFC 9693).",
        "degradation": "Measure a figure at several numbers of connections (RFC 9693).",
        "churn": "Find the highest rate of new connections while a given load runs, or the highest "
        "load at a given rate of new connections.",
    },
    "Campaigns": {
        "plan": "Show a campaign's cells in their order, what they need, and how long they take.",
        "run": "Run the campaign of an experiment file; `natxy resume` goes on after an "
        "interruption.",
        "resume": "Go on with an interrupted campaign.",
    },
    "Look at results": {
        "status": "Show which cells of a campaign are done, with their figures.",
        "serve": "Show a campaign in a browser while it runs, by default on this machine only.",
        "report": "Write the tables, plots and data of a campaign or a measurement as files.",
        "compare": "Compare the main figures of two campaigns (test of Mann and Whitney).",
    },
    "siitperf": {
        "siitperf": "Run one test like siitperf's tp, lat or pdv, with ./siitperf.conf.",
    },
}
VERBS = {verb: summary for verbs in GROUPS.values() for verb, summary in verbs.items()}
# siitperf's arguments are positional: one that begins with - is a wrong value, not an option.
CONTEXTS = {"siitperf": {"ignore_unknown_options": True, "allow_interspersed_args": False}}


def invoke(arguments: Sequence[str]) -> None:
    """Runs the command without click's `main`, which would turn an interrupt into a status."""
    command = typer.main.get_command(_app())
    with command.make_context("natxy", list(arguments)) as context:
        command.invoke(context)


def command_of(verb: str) -> click.Command:
    app = typer.Typer(add_completion=False)
    app.command(verb, context_settings=CONTEXTS.get(verb))(function_of(verb))
    return typer.main.get_command(app)


def function_of(verb: str) -> Callable[..., Any]:
    """Returns a verb's function, which has the verb's name, as has its file."""
    name = verb.replace("-", "_")
    function: Callable[..., Any] = getattr(import_module(f"natxy.cli.{name}"), name)
    return function


class _Verbs(TyperGroup):
    """Lists verbs that are not imported, and imports the one that is asked for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(_unknown(args[0]))
        verb, _, rest = super().resolve_command(ctx, args)
        return verb, None if verb is None else command_of(verb), rest


def _unknown(verb: str) -> str:
    near = difflib.get_close_matches(verb.lower(), VERBS, n=1)
    expected = near[0] if near else "one of those that `natxy --help` lists"
    return f'unknown command "{verb}" (expected {expected})'


def _app() -> typer.Typer:
    app = typer.Typer(
        cls=_Verbs,
        callback=_options_of_natxy,
        help="Benchmarks IPv4/IPv6 gateways: translators, NATs, routers.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for group, verbs in GROUPS.items():
        for verb, summary in verbs.items():
            app.command(verb, help=summary, rich_help_panel=group)(_listed)
    return app


def _listed() -> None:
    """Stands for a verb in the list."""


def _print(wanted: bool) -> None:
    if wanted:
        typer.echo(f"natxy {natxy.__version__}")
        raise typer.Exit


def _options_of_natxy(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Takes the options of `natxy` itself."""
    del version
