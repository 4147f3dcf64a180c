"""Plots of trials: what a search tried, what disturbed it, and the delays of the frames."""

from natxy.report.charts import ZOOM, Chart, Rows, chart, choice, colour, number

# Colours that people with a colour vision deficiency can tell apart (Okabe and Ito), and shapes.
VERDICTS = {
    "PASS": ("#009E73", "circle"),
    "FAIL": ("#D55E00", "cross"),
    "INVALID": ("#E69F00", "triangle-up"),
}
# So that a point at the end of an axis is whole: a plot that can be zoomed cuts what lies outside.
ROOM = {"padding": 8, "nice": False}


def trace_chart(trials: Rows) -> Chart:
    """Returns the rate and the verdict of each trial."""
    colours, shapes = zip(*VERDICTS.values(), strict=True)
    verdicts = list(VERDICTS)
    shape_scale = {"domain": verdicts, "range": shapes}
    return chart(
        "trials",
        "Searches: the rate and the verdict of each trial",
        trials,
        params=[choice("cell", trials), ZOOM],
        transform=[{"filter": "datum.cell == cell"}],
        mark={"type": "point", "filled": True, "size": 60},
        encoding={
            "x": number("number", "trial", axis={"tickMinStep": 1}, scale=ROOM),
            "y": number("rate_fps", "frames or connections a second, per direction", scale=ROOM),
            "color": colour("verdict", scale={"domain": verdicts, "range": colours}),
            "shape": {"field": "verdict", "legend": None, "scale": shape_scale},
            "tooltip": [
                {"field": name}
                for name in ("cell", "repetition", "rate_fps", "verdict", "lost_percent", "reason")
            ],
        },
    )


def pauses_chart(trials: Rows) -> Chart:
    """Returns how long the tester paused and the gateway was away in each trial."""
    rows = [
        {"at_s": row["at_s"], "cell": row["cell"], "who": who, "ms": row[field]}
        for row in trials
        for who, field in (("tester paused", "paused_ms"), ("gateway away", "away_ms"))
        if row[field]
    ]
    return chart(
        "pauses",
        "Noise: pauses of the tester and absences of the gateway in each trial",
        rows,
        params=[ZOOM],
        mark={"type": "point", "filled": True, "opacity": 0.6, "tooltip": True},
        encoding={
            "x": number("at_s", "seconds since the first trial", scale=ROOM),
            "y": number("ms", "ms", scale=ROOM),
            "color": colour("who"),
        },
    )


def distribution_charts(curves: Rows) -> list[Chart]:
    """Returns a chart of the delays' distribution; rows have `curve`, `delay_us`, `share`."""
    if not curves:
        return []
    return [
        chart(
            "delays",
            "Delays: share of the frames with at most this delay",
            curves,
            params=[ZOOM],
            mark={"type": "line", "interpolate": "step-after", "tooltip": True},
            encoding={
                "x": number("delay_us", "delay, µs", scale={"type": "log", "nice": False}),
                "y": number("share", "share"),
                "color": colour("curve", sort=None),
            },
        )
    ]


def course_charts(slots: Rows) -> list[Chart]:
    """Returns a chart of the delays over the time of a trial: the median of each slot of time as a
    line, all its delays as an area; rows have `trial`, `direction`, `at_s` and delays in µs."""
    if not slots:
        return []
    return [
        chart(
            "delay-over-time",
            "Delays over time: median, minimum and maximum of the frames that left together",
            slots,
            params=[choice("trial", slots)],
            transform=[{"filter": "datum.trial == trial"}],
            encoding={
                "x": number("at_s", "seconds since the start of the trial"),
                "color": colour("direction"),
                "tooltip": [
                    {"field": name}
                    for name in ("direction", "at_s", "median_us", "minimum_us", "maximum_us")
                ],
            },
            layer=[
                {
                    "mark": {"type": "area", "opacity": 0.25},
                    "encoding": {
                        "y": number("minimum_us", "delay, µs", scale={"zero": False}),
                        "y2": {"field": "maximum_us"},
                    },
                },
                {
                    "mark": {"type": "line", "strokeWidth": 1.5},
                    "encoding": {"y": number("median_us", "delay, µs")},
                },
            ],
        )
    ]
