"""The verbs of `natxy`, and the command that consists of them."""

import difflib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

import natxy
from natxy.cli.help import WIDEST, Sectioned

GROUPS = {  # as `natxy --help` lists them
    "Set up": ("demo", "init", "doctor", "dut", "bindings", "self-test"),
    "Measure": (
        *("trial", "throughput", "latency", "pdv", "ipdv", "frame-loss", "back-to-back"),
        *("recovery", "reset", "overload", "scale-up"),
    ),
    "Stateful": ("establishment", "capacity", "tear-down", "degradation", "churn"),
    "Campaigns": ("plan", "run", "resume"),
    "Look at results": ("status", "serve", "report", "compare"),
    "siitperf": ("siitperf",),
}
VERBS = [verb for verbs in GROUPS.values() for verb in verbs]
# siitperf's arguments are positional: one that begins with - is a wrong value, not an option.
CONTEXTS = {"siitperf": {"ignore_unknown_options": True, "allow_interspersed_args": False}}


def invoke(arguments: Sequence[str]) -> None:
    """Runs the command without click's `main`, which would turn an interrupt into a status.

    A command that measures returns its work.
    """
    command = typer.main.get_command(_app())
    with command.make_context("natxy", list(arguments), max_content_width=WIDEST) as context:
        work = command.invoke(context)
        if work is not None:
            from natxy.cli.series import run_series  # only commands that measure need its modules

            run_series(work)


def command_of(verb: str) -> click.Command:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(verb, cls=Sectioned, context_settings=CONTEXTS.get(verb))(function_of(verb))
    return typer.main.get_command(app)


def function_of(verb: str) -> Callable[..., Any]:
    """Returns a verb's function, which has the verb's name, as has its file."""
    name = verb.replace("-", "_")
    function: Callable[..., Any] = getattr(import_module(f"natxy.cli.{name}"), name)
    return function


def summary_of(verb: str) -> str:
    """Returns the first paragraph of the docstring of a verb's function, which is not imported."""
    name = verb.replace("-", "_")
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    _, _, function = text.partition(f"\ndef {name}(")
    paragraph = function.split('"""')[1].partition("\n\n")[0]
    return " ".join(paragraph.split())


class _Verbs(TyperGroup):
    """Lists verbs that are not imported, and imports the one that is asked for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(_unknown(args[0]))
        verb, _, rest = super().resolve_command(ctx, args)
        return verb, None if verb is None else command_of(verb), rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for group, verbs in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(verb, summary_of(verb)) for verb in verbs])


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
        rich_markup_mode=None,
    )
    for verb in VERBS:
        app.command(verb)(_listed)
    return app


def _listed() -> None:
    """Stands for a verb in the list."""


def _print(wanted: bool) -> None:
    if wanted:
        print(f"natxy {natxy.__version__}")
        raise typer.Exit


def _options_of_natxy(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Takes the options of `natxy` itself."""
    del version
