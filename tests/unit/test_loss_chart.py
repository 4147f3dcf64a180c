"""Frame loss as bars: their lengths tell the truth."""

from natxy.model.measurement import Conditions, Figure, Measurement, TrialCounts
from natxy.model.trial_spec import Direction
from natxy.procedure.frame_loss import LOSS
from natxy.report.histogram import BAR_CHARACTERS, loss_chart


def loss(at: str, direction: Direction, *percents: float) -> Figure:
    return Figure(name=LOSS, unit="%", at=at, direction=direction, values=percents)


def chart(*figures: Figure, networks: int = 1) -> list[str]:
    conditions = Conditions(
        dut="router",
        left_ip_version=4,
        right_ip_version=4,
        direction="both",
        frame_size_bytes=84,
        left_networks=networks,
        right_networks=networks,
        duration_s=0.2,
        drain_s=0.05,
        settle_s=0.0,
        seed=7,
    )
    measurement = Measurement(
        procedure="frame-loss",
        title="Frame loss rate",
        reference="RFC 2544 section 26.3",
        conditions=conditions,
        figures=figures,
        counts=TrialCounts(),
    )
    return list(loss_chart(measurement))


def test_a_bar_a_rate_in_each_direction() -> None:
    first, second = "100 % (20,000 fps)", "90 % (18,000 fps)"
    lines = chart(
        loss(first, "forward", 50.0),
        loss(first, "reverse", 100.0),
        loss(second, "forward", 0.0),
        loss(second, "reverse", 25.0),
    )
    assert lines[0] == "→ frame loss rate, 84 B, 100 % foreground"
    assert lines[4] == "← frame loss rate, 84 B, 100 % foreground"
    assert [line.count("█") for line in lines] == [0, 20, 0, 0, 0, BAR_CHARACTERS, 10, 0]
    assert lines[1].startswith(f"{first} █")
    assert lines[2].startswith(f" {second} ")
    assert lines[2].endswith(" 0 %")


def test_charts_of_a_series_over_networks_are_told_apart() -> None:
    assert chart(loss("a", "forward", 1.0), networks=256)[0].endswith("foreground, 256 networks")


def test_a_little_loss_is_seen_and_nearly_all_is_not_all() -> None:
    lines = chart(loss("a", "forward", 0.001), loss("b", "forward", 99.99))
    assert [line.count("█") for line in lines[1:3]] == [1, BAR_CHARACTERS - 1]
    assert lines[1].endswith("0.001 %")


def test_several_repetitions_are_their_median_and_other_figures_are_no_bars() -> None:
    lines = chart(
        loss("a", "forward", 10.0, 90.0, 50.0),
        Figure(name=f"{LOSS}, background", unit="%", values=(1.0,), primary=False),
    )
    assert len(lines) == 3
    assert lines[1].count("█") == BAR_CHARACTERS // 2


def test_a_bar_of_a_bound_says_so() -> None:
    bound = loss("a", "forward", 50.0).model_copy(update={"upper_bound": (True,)})
    assert chart(bound)[1].endswith(" ≤ 50 %")
