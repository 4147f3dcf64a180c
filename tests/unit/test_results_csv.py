"""The columns of results.csv that follow from a figure's repetitions."""

from natxy.model.disturbance import Disturbance
from natxy.model.measurement import Figure, TrialCounts
from natxy.report.results_csv import figure_entry, rows
from tests.unit.measurement_report import measurement


def test_the_largest_error_of_all_repetitions_is_told() -> None:
    figure = Figure(name="PDV", unit="ns", values=(5.0, 6.0, 7.0), errors=(1.0, 3.0, 2.0))
    assert figure_entry(figure)["largest_error"] == 3.0
    without = figure.model_copy(update={"errors": ()})
    assert figure_entry(without)["largest_error"] == ""


def test_a_point_is_a_number_with_a_unit_beside_its_name() -> None:
    figure = Figure(name="throughput", unit="fps", values=(5.0,), at="2 cores")
    alone = figure_entry(figure)
    assert (alone["at_value"], alone["at_unit"]) == (None, None), "results of earlier releases"
    placed = figure_entry(figure.model_copy(update={"at_value": 2, "at_unit": "cores"}))
    assert (placed["at"], placed["at_value"], placed["at_unit"]) == ("2 cores", 2, "cores")


def test_noise_stands_beside_each_figure() -> None:
    noise = Disturbance(sending_ns=2e9, paused_ns=3e6, away_ns=5e6, longest_away_ns=4e6)
    counts = TrialCounts(trials=4, invalid_trials=1, disturbance=noise)
    (row, *_) = rows(measurement(counts=counts))
    assert (row["trials"], row["invalid_trials"]) == (4, 1)
    assert (row["sending_ns"], row["paused_ns"]) == (2e9, 3e6)
    assert (row["away_ns"], row["longest_away_ns"]) == (5e6, 4e6)
