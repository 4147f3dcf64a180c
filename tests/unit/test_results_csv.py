"""The columns of results.csv that follow from a figure's repetitions."""

from natxy.model.measurement import Figure
from natxy.report.results_csv import figure_entry


def test_the_largest_error_of_all_repetitions_is_told() -> None:
    figure = Figure(name="PDV", unit="ns", values=(5.0, 6.0, 7.0), errors=(1.0, 3.0, 2.0))
    assert figure_entry(figure)["largest_error"] == 3.0
    without = figure.model_copy(update={"errors": ()})
    assert figure_entry(without)["largest_error"] == ""
