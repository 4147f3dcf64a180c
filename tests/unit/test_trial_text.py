"""Tests of what the text of one trial says of noise, and of the ports of a gateway."""

import pytest

from natxy.model.stream_counters import Losses
from natxy.model.table_result import ConnectionTableResult, CountSummary, MappingsResult
from natxy.report.trial_text import block_sentence, brief_trial, mapping_lines, trial_lines
from tests.unit.results import result_of, stream_of


def test_a_trial_says_how_long_the_gateway_was_away_and_the_sender_paused() -> None:
    trial = result_of(stream_of(sent=100, paused_s=0.002), away_s=0.003)
    lines = trial_lines(trial, ())
    assert "  pauses      2 ms in all" in lines
    assert "gateway on CPU 1, test: away for 3 ms in all, 3 ms at most" in lines


def test_columns_of_large_numbers_are_apart() -> None:
    trial = result_of(stream_of(sent=1_234_567_890))
    (row,) = (line for line in brief_trial(trial, trial, ()) if "foreground" in line)
    assert row.split()[2] == "1,234,567,890"


def test_a_sender_that_did_not_pause_is_not_mentioned() -> None:
    trial = result_of(stream_of(sent=100))
    assert not any("pauses" in line for line in trial_lines(trial, ()))


def test_the_gaps_of_the_numbering_are_shown() -> None:
    assert "  gaps        none in the numbering" in trial_lines(result_of(stream_of(sent=100)), ())
    losses = Losses(
        frames=1234,
        first_number=0,
        last_number=5000,
        first_due_ns=0,
        last_due_ns=1,
        gaps=17,
        longest_run=1000,
        longest_run_from_ns=0,
        longest_run_until_ns=1,
    )
    lossy = stream_of(sent=10_000).model_copy(update={"losses": losses})
    assert (
        "  gaps        17 in the numbering: 1,234 frames never arrived, 1,000 in a row at most"
    ) in trial_lines(result_of(lossy), ())


def mappings(block_ports: int, ports: int = 640) -> MappingsResult:
    one = CountSummary(min=1, median=1, p99=1, max=1)
    return MappingsResult(
        hosts=20,
        addresses=2,
        ports=ports,
        hosts_per_address=CountSummary(min=10, median=10, p99=10, max=10),
        ports_per_address=CountSummary(min=300, median=320, p99=340, max=340),
        connections_per_address=CountSummary(min=1_234_567, median=1e7, p99=10**7, max=10**7),
        ports_per_host=CountSummary(min=8, median=31.5, p99=60, max=64),
        connections_per_host=CountSummary(min=9, median=32, p99=61, max=65),
        addresses_per_host=one,
        block_ports=block_ports,
        blocks_per_host=CountSummary(min=1, median=1, p99=2, max=2),
    )


def test_a_gateways_ports_are_summed_up() -> None:
    table = ConnectionTableResult(
        asked=700, stored=640, bytes=5600, page_bytes=4096, mappings=mappings(64)
    )
    assert list(mapping_lines(table)) == [
        "mappings: inside addresses 20, external addresses 2, external ports 640",
        "                                                 min     median        P99        max",
        "  ports of an inside address                       8       31.5         60         64",
        "  connections of an inside address                 9         32         61         65",
        "  external addresses of an inside address          1          1          1          1",
        "  inside addresses of an external address         10         10         10         10",
        "  ports of an external address                   300        320        340        340",
        "  connections of an external address       1,234,567 10,000,000 10,000,000 10,000,000",
        "  no block of 64 ports is shared; an inside address has ports in 1 to 2 such blocks",
    ]
    assert list(mapping_lines(table.model_copy(update={"mappings": None}))) == []


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (mappings(0), "two inside addresses have the same external port"),
        (mappings(1), "no blocks of ports: neighbouring ports belong to different inside"),
        (mappings(2**16), "no external address is shared"),
        (mappings(2**16, ports=0), "no connections were made"),
    ],
)
def test_blocks_are_told(found: MappingsResult, sentence: str) -> None:
    assert block_sentence(found).startswith(sentence)
