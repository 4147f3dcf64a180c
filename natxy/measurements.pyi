"""The measurements of natxy.Testbed, for type checkers and editors.

Written by tools/reference.py (make reference); do not edit.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal

from natxy.campaign.loaded import Results
from natxy.measure.table_size import Size
from natxy.procedure.degradation import Column
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import MlrGoal
from natxy.search.settings import LossTolerance
from natxy.trial.bursts import Bursts

class Measurements:
    """Each measurement of a testbed as a method; all arguments are given by name."""

    def throughput(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_fps: int | None = None,
        patience_s: Fraction | float | None = None,
        bursts: Bursts | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the throughput; each repetition is a separate search with its own seed.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            error: End the search when the rate is known to within this error: a share of the rate,
                or frames a second such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_fps: Highest rate to try, in frames a second per direction [default: the
                media's rate].
            patience_s: Time limit in seconds for each combination of frame size, mix, number of
                networks and burst length. When the planned times (see retry_s) of all its trials,
                invalid ones included, add up to this limit, no further repetition starts (bisection
                only) [default: no limit].
            bursts: Bursts in place of steady traffic.
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def mlr_throughput(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        max_rate_fps: int | None = None,
        goals: Sequence[MlrGoal] | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures a rate for each goal, in frames a second per direction; it was tested and
        passed.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            max_rate_fps: Highest rate to try, in frames a second per direction [default: the
                media's rate].
            goals: Goals of the search [default: the rate without loss].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def latency(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        tags: int | None = None,
        tags_after_s: Fraction | float | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures typical latency (the median) and worst-case latency (P99.9).

        Each has a value for each repetition.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 20; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 120; quick: 0.4].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            rate_fps: Rate of the trials, in frames a second per direction [default: the throughput,
                which is searched for first].
            tags: Tagged frames of a trial, per direction [default: 50000].
            tags_after_s: Seconds of a trial before its first tagged frame [default: half of the
                duration].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def pdv(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures PDV and the delays that it is the difference of, each once per repetition.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 20; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            rate_fps: Rate of the trials, in frames a second per direction [default: the throughput,
                which is searched for first].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def ipdv(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures minimum, median and maximum, signed, with a value for each repetition.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 20; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            rate_fps: Rate of the trials, in frames a second per direction [default: the throughput,
                which is searched for first].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def frame_loss(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        max_rate_fps: int | None = None,
        step: Fraction | float | None = None,
        rates_fps: Sequence[int] | None = None,
        loss: LossTolerance | str | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the loss per direction, in % of the frames sent; with background also per kind.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 1; quick: 1].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            max_rate_fps: Rate that is 100 % of the series, in frames a second per direction
                [default: the media's rate].
            step: Difference between two rates of the series [default: 0.1].
            rates_fps: Rates to measure instead of the series, in frames a second.
            loss: End the series when two successive rates lose at most this share of the frames,
                for example 0.01% [default: no loss].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def back_to_back(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        burst_rate_fps: int | None = None,
        throughput_fps: int | None = None,
        step_frames: int | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the longest burst of each repetition, and the buffer times that follow from it.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 50; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 2; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.2].
            settle_s: Seconds between two trials [default: 0; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            burst_rate_fps: Rate within a burst, in frames a second [default: the media's rate].
            throughput_fps: Throughput that was measured before, in frames a second [default: it is
                searched for first].
            step_frames: Error of the search in frames: it ends when the longest burst is known to
                within N frames. A trial is invalid if its burst left too slowly, by more than N
                frames take at the throughput [default: the frames that pass in 20 us at the
                throughput].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def recovery(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        after_s: Fraction | float | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures, per direction, the time from the drop of the rate to the last lost frame.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 20; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            rate_fps: Throughput that was measured before, in frames a second [default: it is
                searched for first].
            after_s: Seconds at the lower rate, after the overload [default: the duration].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def reset(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        reset_after_s: Fraction | float | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the reset time per direction, by both methods of RFC 6201 section 1.3.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 1].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.1].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            rate_fps: Rate of the trials, in frames a second per direction [default: the throughput,
                which is searched for first].
            reset_after_s: Seconds of sending before the reset [default: a third of the duration].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def overload(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        flows: Sequence[int] | None = None,
        subscribers: Sequence[int] | None = None,
        incremental: bool | None = None,
        step_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_fps: int | None = None,
        patience_s: Fraction | float | None = None,
        rate_fps: int | None = None,
        tags: int | None = None,
        tags_after_s: Fraction | float | None = None,
        step: Fraction | float | None = None,
        rates_fps: Sequence[int] | None = None,
        burst_rate_fps: int | None = None,
        throughput_fps: int | None = None,
        step_frames: int | None = None,
        after_s: Fraction | float | None = None,
        reset_after_s: Fraction | float | None = None,
        test: Literal[
            "throughput",
            "latency",
            "pdv",
            "ipdv",
            "frame_loss",
            "back_to_back",
            "recovery",
            "reset",
        ]
        | object
        | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the test's figures for each number, and their degradation against one.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            flows: Numbers of network flows to measure; each is compared with one flow.
            subscribers: Numbers of subscribers to measure instead, for a testbed with
                [subscribers]; each is compared with one subscriber [default: flows are measured].
            incremental: Start the flows one after the other within a trial [default: False].
            step_s: With incremental: seconds between the starts of two flows. A drain follows each
                quarter of the flows [default: each quarter is sent for a trial's duration].
            error: End the search when the rate is known to within this error: a share of the rate,
                or frames a second such as 100 [default: 0.1%].
            loss: End the series when two successive rates lose at most this share of the frames,
                for example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_fps: Rate that is 100 % of the series, in frames a second per direction
                [default: the media's rate].
            patience_s: Time limit in seconds for each combination of frame size, mix, number of
                networks and burst length. When the planned times (see retry_s) of all its trials,
                invalid ones included, add up to this limit, no further repetition starts (bisection
                only) [default: no limit].
            rate_fps: Rate of the trials, in frames a second per direction [default: the throughput,
                which is searched for first].
            tags: Tagged frames of a trial, per direction [default: 50000].
            tags_after_s: Seconds of a trial before its first tagged frame [default: half of the
                duration].
            step: Difference between two rates of the series [default: 0.1].
            rates_fps: Rates to measure instead of the series, in frames a second.
            burst_rate_fps: Rate within a burst, in frames a second [default: the media's rate].
            throughput_fps: Throughput that was measured before, in frames a second [default: it is
                searched for first].
            step_frames: Error of the search in frames: it ends when the longest burst is known to
                within N frames. A trial is invalid if its burst left too slowly, by more than N
                frames take at the throughput [default: the frames that pass in 20 us at the
                throughput].
            after_s: Seconds at the lower rate, after the overload [default: the duration].
            reset_after_s: Seconds of sending before the reset [default: a third of the duration].
            test: What is measured: a name, or a plan [default: throughput].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def scale_up(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        cores: Sequence[int] | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_fps: int | None = None,
        patience_s: Fraction | float | None = None,
        max_rate_cps: int | None = None,
        first_cps: int | None = None,
        alpha: Fraction | float | None = None,
        search: Literal["throughput", "establishment"] | object | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        networks: int | Sequence[int] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the figure at each number k of cores.

        The result also has the relative scale up, value(k) / (k x value(1)), the ratio of each
        figure
        to that at the previous number of cores, and the memory per connection of a stateful
        gateway.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            cores: Numbers of cores that the gateway uses, in turn.
            error: End the search when the rate is known to within this error: a share of the rate,
                or connections a second such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_fps: Highest rate to try, in frames a second per direction [default: the
                media's rate].
            patience_s: Time limit in seconds for each combination of frame size, mix, number of
                networks and burst length. When the planned times (see retry_s) of all its trials,
                invalid ones included, add up to this limit, no further repetition starts (bisection
                only) [default: no limit].
            max_rate_cps: Highest rate to try, in connections a second [default: the media's rate].
            first_cps: First rate of the search [default: the maximum, or a guess].
            alpha: Rate of validation, as a share of phase 1's rate [default: no validation].
            search: What is measured: a name, or a plan [default: throughput].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            networks: Number of destination networks behind each side, 1 to 256 [default: the
                testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def establishment(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_cps: int | None = None,
        first_cps: int | None = None,
        alpha: Fraction | float | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        connections: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the rate; each repetition is a separate search with its own seed.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            error: End the search when the rate is known to within this error: a share of the rate,
                or connections a second such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_cps: Highest rate to try, in connections a second [default: the media's rate].
            first_cps: First rate of the search [default: the maximum, or a guess].
            alpha: Rate of validation, as a share of phase 1's rate [default: no validation].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def capacity(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        alpha: Fraction | float | None = None,
        c0: int | None = None,
        error: int | None = None,
        beta: Fraction | float | None = None,
        gamma: Fraction | float | None = None,
        most: int | None = None,
        rate_error: SearchError | str | None = None,
        first_cps: int | None = None,
        max_cps: int | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        connections: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures C0, R0, CS, RS, CT, C and memory, with a value for each repetition.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 1].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            alpha: Rate of validation, as a share of phase 1's rate [default: 0.5].
            c0: C0: connections that the table certainly holds, with which the search begins
                [default: count in the testbed's [connections]].
            error: E: end the search when the capacity is bounded to within N connections [default:
                1].
            beta: Fail a step of the exponential search if its establishment rate falls below RATIO
                times the previous step's [default: 0.2].
            gamma: Fail a step of the final search if its establishment rate falls below RATIO times
                that of the last step that passed in the exponential search [default: 0.4].
            most: Largest number of connections to try [default: 4294967296].
            rate_error: End the search for a step's establishment rate when this rate is known to
                within this error: a share of the rate, or connections a second [default: 5 %;
                quick: 20 %].
            first_cps: First rate of the search for R0, in connections a second [default: rate_fps
                in the testbed's [connections], or 1000].
            max_cps: Highest rate to try, in connections a second [default: no limit].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def tear_down(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        sizes: Sequence[Size] | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the rate at each N, and the deletion times from which it follows.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            sizes: Numbers of connections and their ports [default: the testbed's].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def closing(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_cps: int | None = None,
        first_cps: int | None = None,
        alpha: Fraction | float | None = None,
        by: Literal["fin", "rst"] | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the rate; each repetition is a separate search with its own seed.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            error: End the search when the rate is known to within this error: a share of the rate,
                or connections a second such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_cps: Highest rate to try, in connections a second [default: the media's rate].
            first_cps: First rate of the search [default: the maximum, or a guess].
            alpha: Rate of validation, as a share of phase 1's rate [default: no validation].
            by: What ends the connections [default: fin].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def degradation(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_fps: int | None = None,
        patience_s: Fraction | float | None = None,
        max_rate_cps: int | None = None,
        first_cps: int | None = None,
        alpha: Fraction | float | None = None,
        columns: Sequence[Column] | None = None,
        search: Literal["throughput", "establishment"] | object | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        foreground_percent: float | Sequence[float] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the figure Xn in each column, and its degradation.

        The degradation is (X1 - Xn) / X1 x 100 %, where X1 is the figure of the first column. The
        result also has the ratio of each figure to that of the previous column, and the memory per
        connection in each column.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            error: End the search when the rate is known to within this error: a share of the rate,
                or connections a second such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_fps: Highest rate to try, in frames a second per direction [default: the
                media's rate].
            patience_s: Time limit in seconds for each combination of frame size, mix, number of
                networks and burst length. When the planned times (see retry_s) of all its trials,
                invalid ones included, add up to this limit, no further repetition starts (bisection
                only) [default: no limit].
            max_rate_cps: Highest rate to try, in connections a second [default: the media's rate].
            first_cps: First rate of the search [default: the maximum, or a guess].
            alpha: Rate of validation, as a share of phase 1's rate [default: no validation].
            columns: Connections, ports and table of each column.
            search: What is measured: a name, or a plan [default: throughput].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            foreground_percent: Share of the frames that are foreground, in %: those that a
                translator translates; the rest is native IPv6 [default: the testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """

    def churn(
        self,
        *,
        profile: Literal["rfc", "quick"] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
        duration_s: Fraction | float | None = None,
        drain_s: Fraction | float | None = None,
        settle_s: Fraction | float | None = None,
        frame_timeout_s: Fraction | float | None = None,
        retry_s: Fraction | float | None = None,
        error: SearchError | str | None = None,
        loss: LossTolerance | str | None = None,
        loss_verifications: int | None = None,
        early_end: bool | None = None,
        max_rate_fps: int | None = None,
        patience_s: Fraction | float | None = None,
        load_fps: int | None = None,
        new_cps: int | None = None,
        frame_size_bytes: int | Sequence[int] | Literal["rfc8219"] | None = None,
        direction: Literal["both", "forward", "reverse"] | None = None,
        connections: int | None = None,
        establishment_rate_cps: int | None = None,
        dut_name: str | None = None,
        output: str | Path | None = None,
    ) -> Results:
        """Measures the rate; each repetition is a separate search with its own seed.

        Args:
            profile: Defaults of the others: rfc has the values that the RFCs ask for, quick has
                short trials for a first look [default: rfc].
            seed: Seed of all pseudorandom choices; the same seed sends the same frames [default: a
                new one, which the result shows].
            repetitions: How often each figure is measured [default: 10; quick: 3].
            duration_s: Seconds during which a trial sends frames [default: 60; quick: 0.2].
            drain_s: Seconds during which a trial still receives after its last frame [default: 2;
                quick: 0.05].
            settle_s: Seconds between two trials [default: 5; quick: 0].
            frame_timeout_s: Delay in seconds after which a frame is late and counts as lost, for
                example 0.01 [default: no limit].
            retry_s: Limit in seconds for the invalid trials of a measurement, which is all
                repetitions at one frame size, mix, number of networks and burst length. Each
                invalid trial counts with its planned time, which is its duration plus its drain.
                With connections, duration and drain of phase 1 are added. When a limit that you set
                is used up, no invalid trial is repeated. When the default limit is used up, there
                are 3 repeats at each rate. If a command first searches for its rate, as latency
                does, the invalid trials of this search count, too [default: 40, plus 4 times the
                time of the valid trials].
            error: End the search when the rate is known to within this error: a share of the rate,
                or a number such as 100 [default: 0.1%].
            loss: Let a trial pass if each direction lost at most this share of its frames, for
                example 0.01% [default: no loss].
            loss_verifications: Repeat a failed trial up to N times; its rate fails if all of them
                fail, or at once if a trial lost more than half of a direction's frames (bisection
                only) [default: 0; quick: 1].
            early_end: End a trial as failed as soon as one frame has not arrived within the frame
                timeout after it was sent. Without a frame timeout, the length of the drain takes
                its place (bisection only, not with loss) [default: False].
            max_rate_fps: Highest rate to try [default: the media's rate, or what the ranges of
                ports and the gateway's table allow].
            patience_s: Time limit in seconds for each combination of frame size, mix, number of
                networks and burst length. When the planned times (see retry_s) of all its trials,
                invalid ones included, add up to this limit, no further repetition starts (bisection
                only) [default: no limit].
            load_fps: Frames a second per direction that use established connections; the rate of
                new connections is searched [default: searched, with new_cps].
            new_cps: New connections a second; the load of established connections is searched
                [default: searched, with load_fps].
            frame_size_bytes: Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20
                octets fewer [default: the testbed's].
            direction: Direction of the traffic: both, forward (left to right) or reverse [default:
                the testbed's].
            connections: Connections that each trial first creates in a stateful gateway (phase 1)
                [default: the testbed's].
            establishment_rate_cps: Rate of phase 1, in connections a second [default: the
                testbed's; if it has none, Natxy first searches for the highest rate of new
                connections and uses half of it].
            dut_name: Name of the gateway in the result [default: the gateway's own].
            output: New folder for the journal and the results (JSON, CSV) [default: none; only the
                returned results hold them].
        """
