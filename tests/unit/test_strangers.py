"""Files, processes and surroundings that somebody else made: one sentence, and no harm."""

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import natxy.trial.setup
from natxy.campaign.folder import CampaignFolder, read_asked
from natxy.campaign.journal import FILE_NAME, Journal, read_journal
from natxy.campaign.records import read_campaign
from natxy.cli import run_command
from natxy.cli.serve import live
from natxy.dut.commanded import show_on_stderr
from natxy.dut.config import NoDutConfig
from natxy.dut.gateway_process import GatewayProcess
from natxy.dut.none import NoDut
from natxy.dut.process import kernel_threads
from natxy.errors import ConfigurationError, DutError, NatxyError
from natxy.model.traffic import TrafficPlan
from natxy.report.html_text import live_page, page_text
from natxy.report.report_files import HEAD, LIST, keep_only
from natxy.tester.claims import ends_here, port_identity
from natxy.tester.self_tests import state_file
from natxy.trial.setup import set_up
from natxy.visible import visible
from natxy.whole_file import write_whole
from tests.unit.campaigns import HEADER, run

Captured = pytest.CaptureFixture[str]
TURNED = "\u202eecho harmless"


@pytest.mark.parametrize(
    ("stat", "found"),
    [
        (b"77 (napi/d0-1-5) S 2 0 0 0 -1 2129984 0", [("1-5", 77)]),
        (b"77 (napi/d0-) x) S 2 0 0 0 -1 2129984 0", [(") x", 77)]),
        (b"77 (napi/d0-1-5) S 2 77 77 0 -1 4194304 0", []),  # in a container, 2 may be a program
        (b"77 (caf\xe9) S 1 77 77 0 -1 4194304 0", []),
    ],
    ids=["a thread of the kernel", "a bracket", "a process with its name", "no UTF-8"],
)
def test_only_the_kernels_threads_are_moved(
    stat: bytes, found: list[tuple[str, int]], tmp_path: Path
) -> None:
    (tmp_path / "77").mkdir()
    (tmp_path / "77/stat").write_bytes(stat)
    assert kernel_threads("napi/d0-", tmp_path) == found


def test_a_pid_file_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    for path, kind in ((tmp_path / "pid", "a pipe"), (Path("/dev/zero"), "a device")):
        with pytest.raises(DutError, match=rf"dut\.pid_files: .* is {kind}"):
            _ = NoDut(NoDutConfig(cpus=(0,), pid_files=(str(path),))).watched


def test_a_number_of_a_thousand_digits_is_no_process(tmp_path: Path) -> None:
    (tmp_path / "pid").write_text("1" * 5000)
    with pytest.raises(DutError, match="has no number"):
        _ = NoDut(NoDutConfig(cpus=(0,), pid_files=(str(tmp_path / "pid"),))).watched


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: {name: value for name, value in record.items() if name not in names}


def changed(**members: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda record: record | members


WRONG = {
    "a header without a seed": ("campaign", without("seed"), "seed is missing"),
    "a header without a command": ("campaign", changed(command=[]), "command"),
    "a header of words": ("campaign", changed(quick="no"), "quick"),
    "a cell without a key": ("cell", without("key"), "key is missing"),
    "a cell of one word": ("cell", changed(provenance=3), "provenance"),
    "a cell of no machine": ("cell", changed(provenance={"host": 3}), "host is not a table"),
    "a cell at another time": ("cell", changed(started="yesterday"), '"yesterday" is not a time'),
    "a trial without a number": ("trial", without("number"), "number is missing"),
    "a trial without a result": ("trial", without("result"), "result is missing"),
    "a trial of another kind": ("trial", changed(result=[1]), "list"),
    "a trial at another time": ("trial", changed(started="yesterday"), "yesterday"),
    "a measurement of one word": ("measurement", changed(figures="none"), "figures"),
    "an end without a key": ("cell-end", without("key"), "key is missing"),
    "a hook without a time": ("hook", without("when"), "when is missing"),
}
UNREAD = {(verb, "a trial at another time") for verb in ("status", "resume")}


@pytest.mark.parametrize("verb", ["status", "report", "resume"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_journal_that_is_none_is_one_sentence(
    wrong: str, verb: str, experiment: Path, tmp_path: Path, capsys: Captured
) -> None:
    kind, change, sentence = WRONG[wrong]
    folder = tmp_path / "campaign"
    run(experiment, folder)
    records = [*read_journal(folder / FILE_NAME), {"record": "hook", "when": "after", "status": 0}]
    lines = [json.dumps(change(each) if each["record"] == kind else each) for each in records]
    (folder / FILE_NAME).write_bytes(gzip.compress("".join(f"{x}\n" for x in lines).encode()))
    capsys.readouterr()
    status = run_command([verb, str(folder)])
    said = capsys.readouterr().err
    if (verb, wrong) in UNREAD:
        assert status == 0
        return
    assert status == 2
    assert FILE_NAME in said
    assert sentence in said
    assert "Traceback" not in said


def test_brackets_without_end_are_no_journal(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"[" * 200_000 + b"\n")
    with pytest.raises(ConfigurationError, match="cannot be read as a journal"):
        read_campaign(tmp_path / FILE_NAME)


def test_a_pipe_is_no_place_for_a_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        Journal(tmp_path / FILE_NAME, {}, replace=True)
    reader = os.open(tmp_path / FILE_NAME, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(ConfigurationError, match="is not a file"):
        Journal(tmp_path / FILE_NAME, {}, replace=True)
    os.close(reader)


@pytest.mark.usefixtures("engine")
def test_a_folder_whose_name_is_no_utf_8(testbed_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"b\xfcro")
    folder.mkdir()
    testbed = folder / testbed_file.name
    testbed.write_text(testbed_file.read_text())
    words = ["pdv", str(testbed), "--rate", "1000", "--profile", "quick", "--duration", "0.01"]
    made = folder / "made"
    assert run_command([*words, "--repetitions", "1", "--output", str(made), "--report"]) == 0
    assert journal(made)
    assert json.loads((made / "results.json").read_text())
    assert (made / "report/report.html").exists()


def journal(folder: Path) -> list[dict[str, Any]]:
    return list(read_journal(CampaignFolder(path=folder).journal))


def test_a_user_that_nobody_knows_is_part_of_a_path(capsys: Captured) -> None:
    assert run_command(["dut", "show", "~nobody-at-all/x.toml"]) == 2
    assert "~nobody-at-all/x.toml: there is no such file" in capsys.readouterr().err


def test_a_user_without_a_home_has_a_place_for_self_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert state_file().is_absolute()


def test_a_command_that_hides_is_shown_wherever_it_is_printed(capsys: Captured) -> None:
    show_on_stderr("start", f"{TURNED} \x1b[2K")
    assert capsys.readouterr().err == "dut.start: \\u202eecho harmless \\u001b[2K\n"


def test_a_page_shows_what_hides_in_it() -> None:
    assert page_text(f"<b>{TURNED}") == "&lt;b&gt;\\u202eecho harmless"
    assert page_text("a = 1\r\n") == "a = 1\n"
    page = live_page({"title": visible(TURNED)})
    assert "\u202e" not in page
    assert page.count("\\u202eecho harmless") >= 3


def test_a_running_campaign_shows_what_hides_in_its_title(experiment: Path, tmp_path: Path) -> None:
    """JSON's notation of a character would be the character itself in the browser."""
    written = experiment.read_text().replace("Throughput and loss", "Throughput \u202e and loss")
    experiment.write_text(written)
    folder = CampaignFolder(path=tmp_path / "campaign")
    folder.create(read_asked(experiment))
    with Journal(folder.journal, {**HEADER, "cells": 8}):
        pass
    assert live(folder)["title"].startswith("Throughput \\u202e and loss")


def test_a_program_that_is_no_gateway_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATXY_GATEWAY", "/bin/echo")
    gateway = GatewayProcess(["hello"])
    try:
        with pytest.raises(DutError, match=r"natxy-gateway sent b'hello.* \(expected hello"):
            gateway.hello()
    finally:
        gateway.close()


def test_names_of_drivers_have_two_spellings() -> None:
    for old, new in (("eth_pcap0", "net_pcap0"), ("eth_vhost1", "net_vhost1")):
        words = ",iface=lo,path=/run/x"
        assert port_identity(old + words, None) == port_identity(new + words, None)
        assert port_identity(old + words, None) is not None
        assert ends_here(old + words) == ends_here(new + words)


def test_a_file_of_an_earlier_report_is_only_removed_where_it_is_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    os.mkfifo(folder / "pdv.csv")
    for path in (folder / "pdv.parquet", folder / "own.txt", tmp_path / "outside.csv"):
        path.write_text("not of this report")
    (folder / LIST).write_text(f"{HEAD}\npdv.csv\npdv.parquet\n../outside.csv\n")
    keep_only([], folder)
    assert sorted(each.name for each in folder.iterdir()) == [LIST, "own.txt", "pdv.csv"]
    assert (tmp_path / "outside.csv").exists()


def test_a_list_removes_only_what_a_report_writes(tmp_path: Path) -> None:
    for name in ("results.csv", "results.json", "notes", "a/b.csv", "data/x.csv", FILE_NAME):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("of somebody")
    names = ["results.csv", "results.json", "notes", "a/b.csv", FILE_NAME, "data/x.csv"]
    names += ["nul\0.csv", f"{'x' * 5000}.csv", "data/../results.csv", "/etc/x.csv"]
    (tmp_path / LIST).write_text("\n".join(names))
    keep_only([], tmp_path)
    assert (tmp_path / "data/x.csv").exists(), "the list is not of Natxy"
    (tmp_path / LIST).write_text("\n".join([HEAD, *names]))
    keep_only([], tmp_path)
    left = {each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*")}
    assert left == {LIST, "a", "data", *names[:5]}
    assert (tmp_path / LIST).read_text() == f"{HEAD}\n"


def test_half_characters_are_written(tmp_path: Path) -> None:
    write_whole(tmp_path / "x", os.fsdecode(b"b\xfcro"))
    assert (tmp_path / "x").read_text() == "b\\udcfcro"


@pytest.mark.usefixtures("engine")
def test_a_folder_is_no_output_of_a_self_test(tmp_path: Path, capsys: Captured) -> None:
    assert run_command(["self-test", "--output", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"--output: {tmp_path} is a folder (expected a file)" in said.err


@pytest.mark.usefixtures("engine")
def test_what_starts_a_gateway_may_have_changed_the_kernel(
    nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's network has an address, and lets the kernel forward."""
    is_started = False

    def check(_: object) -> None:
        if is_started:
            raise ConfigurationError("tester.left: the kernel forwards")

    @contextlib.contextmanager
    def running(_: object) -> Iterator[None]:
        nonlocal is_started
        is_started = True
        yield

    monkeypatch.setattr(natxy.trial.setup, "check_kernel", check)
    refused = pytest.raises(NatxyError, match="the kernel forwards")
    with refused, set_up(nat64.testbed, nat64.source, NoDut(), running=running):
        pass
