"""What the text of one trial says of noise."""

from natxy.model.verdict import Verdict
from natxy.report.trial_text import trial_text
from tests.unit.results import result_of, stream_of


def test_a_trial_says_how_long_the_gateway_was_away_and_the_sender_paused() -> None:
    trial = result_of(stream_of(sent=100, paused_s=0.002), away_s=0.003)
    lines = trial_text(trial, Verdict.PASS, ()).splitlines()
    assert "  pauses      2 ms in all" in lines
    assert "gateway on CPU 1, test: away for 3 ms in all, 3 ms at most" in lines


def test_a_sender_that_did_not_pause_is_not_mentioned() -> None:
    trial = result_of(stream_of(sent=100))
    assert "pauses" not in trial_text(trial, Verdict.PASS, ())
