"""The columns of results.csv that follow from a figure's repetitions."""

from natxy.model.measurement import Figure
from natxy.report.results_csv import figure_entry


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
