"""A note without which the figures of a result could be misread."""

from collections.abc import Mapping
from typing import Self

from natxy.model.coded import Fact, Sentences, Statement
from natxy.model.reason import Explanation, LossOfConnections

AT_LEAST = "the gateway can do at least this rate"
NOT_RUN = "{lacking} of {asked} repetitions were not run, or not to their end"
NO_RATE = "0 means that no rate passed:"
NOT_ALL = "Not all of the {number} {units} were used:"
NO_MEMORY = "There is no memory per connection, because the gateway's memory"
PARTS = "Each trial sends a quarter, a half, three quarters and all of the flows."
DRAIN = "a drain of {drain_s}, in which nothing is sent"
PARTS_HAVE = (
    "Not all flows were used while {flows} flows started: at {rate_fps} fps, parts have only "
    "{frames} frames for {part_flows} flows."
)
SILENT = "The gateway, which is not watched, forwarded nothing at times: at most "
STEADY = (
    "give it cores of its own and name them, or use --loss, or --search mlr with --exceed-ratio"
)
TIMING = "Because of the time between polls and of cores that were away, these figures may be"
DEFINED = "Delay: {definition}; clock of arrivals: {clock}"
CORRECTED = "The buffer time was corrected with a throughput of {rate_fps} fps"
FOUND = "found first: {searches:search}, trials of {duration_s}, error {error}"
RESET_ASKED = "The reset was requested {asked_ns} after sending began"


class Topic(Sentences):
    """What a remark is about, with its sentence."""

    # Why a figure is a lower bound.
    BOUND_BY_TESTER = (
        f"≥ marks a lower bound, limited by the tester: trials above this rate were invalid, so "
        f"{AT_LEAST}."
    )
    BOUND_BY_NOISE = (
        "≥ marks a lower bound, limited by noise (a core was away, or badly placed): trials above "
        f"this rate stayed invalid, or told nothing; {AT_LEAST}."
    )
    BOUND_UNEXPLAINED = (
        "≥ marks a lower bound, since the losses above this rate came in holes, or now and then, "
        "which the rate does not explain: the gateway pauses, or loses frames by chance "
        f"({STEADY}); {AT_LEAST}."
    )
    BOUND_VARIES = (
        "≥ marks a lower bound, since the gateway forwarded more than this in a trial that failed: "
        f"its speed varies, it pauses, or it loses frames by chance ({STEADY}); {AT_LEAST}."
    )
    BOUND_BY_MAXIMUM = "≥ marks a lower bound: the highest rate that the search may try passed."
    PASSED_ABOVE = "Trials up to {rate} {unit} passed, but none that lasted long enough to tell."
    BOUND_OF_CAPACITY = (
        "≥ marks a lower bound: trials of {connections:connection} at {rate_cps} a second stay "
        "invalid: {why}."
    )
    # Of searches for a rate.
    SEARCH = "Search error {error}; each repetition is a separate search."
    LACKING_BY_RETRY_TIME = f"{NOT_RUN}: the retry time was used up."
    LACKING_BY_PATIENCE = f"{NOT_RUN}: the patience was used up."
    LACKING = f"{NOT_RUN}."
    TOO_LOW = (
        "The result may be up to {error_percent} too low: the trials do not show more closely what "
        "the gateway can do for long."
    )
    PORT_REFUSED = (
        "Above this rate, the tester's port refused frames each time: what is behind it (the "
        "gateway's ring, a shaper, the link) takes no more, or the port itself sends no more "
        "(`natxy self-test` tells)."
    )
    OVERLOAD_SLOWS = (
        "In trials a little above the result, the gateway forwarded only {rate} {unit}: overload "
        "makes it slower, or it holds more than the longest trial shows."
    )
    PAUSES = (
        "The losses above this rate are holes of {typical_ns}, at most {longest_ns}, {often_hz} in "
        "a second: the gateway pauses."
    )
    CHANCE = (
        "The losses above this rate are single frames, one in {frames}: the gateway loses frames "
        "by chance."
    )
    LOST_AT_EVERY_RATE = f"{NO_RATE} {{what}} were lost at every rate tried."
    LOWEST_RATE = f"{NO_RATE} the lowest rate tried is {{least_fps}} fps."
    LOWEST_RATE_OF_BURSTS = (
        f"{NO_RATE} the lowest rate tried is {{least_fps}} fps, one burst every {{every_ns}}."
    )
    MEDIA = "Limited by the media's rate."
    BURSTS = (
        "Bursts of {frames:frame} at {rate_fps} fps; throughput is the mean rate over bursts and "
        "silence, and the least interval is burst / throughput (RFC 2544 section 21)."
    )
    BURST_FILLS_RING = (
        "A burst of {frames:frame} is longer than the tester's ring ({ring:frame}): a trial in "
        "which the ring may have been full is invalid, not failed."
    )
    GOAL = (
        "at most {accepted_share} loss in trials of {duration_s}, bounds within {width_share}; "
        "exceed ratio {exceed_ratio}, duration sum {sum_s}, initial duration {initial_s}."
    )
    BUFFERS_COUNT = (
        "Such short trials also count frames that were still in the gateway's buffers when sending "
        "ended. So the gateway may not sustain the NDR in longer trials."
    )
    FRAME_TIMEOUT = "A frame that took longer than {timeout_ns} counts as lost."
    # Of a rate that another measurement uses.
    RATE_GIVEN = "The rate was given."
    RATE_FOUND = f"The rate is the throughput, {FOUND}."
    RATE_IS_BOUND = (
        "It is a lower bound of the throughput: trials above it stayed invalid, or it is the "
        "highest rate that the search may try."
    )
    INVALID_IN_SEARCH = (
        "In the search for the throughput, {invalid} of {trials:trial} ({invalid_percent}) were "
        "invalid."
    )
    # Of delays.
    DELAY = f"{DEFINED}."
    DELAY_BY_CLOCK = f"{DEFINED}, known within {{error_ns}}."
    OWN_DELAY = (
        "Tester's own delay (self-test of {date}, {loop} {driver}, {size_bytes} B): at "
        "{low_rate_fps} fps minimum {low_minimum_ns}, median {low_median_ns}; at {high_rate_fps} "
        "fps minimum {high_minimum_ns}, median {high_median_ns}, P99.9 {high_p999_ns}."
    )
    OWN_DELAY_OF_SIZE = (
        "The tester's own delay at {asked_bytes} B is unknown; {size_bytes} B is the nearest size."
    )
    OWN_DELAY_OF_VERSION = "The tester's own delay is that of another version of the engine."
    OWN_DELAY_UNKNOWN = "Tester's own delay ({drivers}): unknown; `{command}` measures it."
    SELF_TESTS_UNREADABLE = "Self-tests are not known: {file} is damaged or of another version."
    IPDV = (
        "IPDV is the delay of a frame minus that of the frame before it, in one direction and kind "
        "of traffic. A pair of frames is undefined if one of them was lost."
    )
    TOO_LONG = f"{TIMING} too long by at most: {{errors_ns}}."
    WRONG_EITHER_WAY = f"{TIMING} too small or too large by at most: {{errors_ns}}."
    TAGS_LOST = (
        "Lost tagged frames: at most {lost} of {sent} in a direction. Each counts with the longest "
        "latency that it may have had."
    )
    TAGS_LEFT_OUT = (
        "Of the tagged frames, up to {left_out_percent} of a direction do not count: gateway or "
        "tester was without its CPU."
    )
    TAGS_IN_SILENCE = (
        f"{SILENT}{{held_percent}} of the tagged frames of a direction may have waited for that. "
        "They count; the error of the typical latency contains their waits, that of the worst case "
        "none."
    )
    # Of frame loss rates.
    LOSS_ERROR = (
        "Because senders paused or sent bursts, the gateway paused, its core was away or badly "
        "placed, or the loss varied within a trial, a frame loss rate may be wrong by at most "
        "{error_percent} of the frames sent."
    )
    LOST_IN_SILENCE = (
        f"{SILENT}{{lost_percent}} of the frames of a direction were lost then. They count; the "
        "error contains them."
    )
    LOST_AT_MOST = (
        "≤ marks an upper bound: no trial at the rate was valid. Half of those whose loss the "
        "gateway's absence or the placement of its CPU excuses lost no more."
    )
    FEW_VALID = "{valid:trial} valid, {invalid} were not: {why}."
    FEW_VALID_BY_RETRY_TIME = (
        "{valid:trial} valid, {invalid} were not, and the retry time is used up: {why}."
    )
    # Of back-to-back frames.
    BURSTS_SENT = (
        "Bursts were sent at {rate_fps} fps in each direction, with at most {longest:frame}; "
        "binary search, step {step:frame}. The benchmark is the mean."
    )
    BURST_WAITS = (
        "The tester waited after each burst: first as long as receiving it takes at the "
        "throughput, then as long again, but at least {least_s}."
    )
    CORRECTED_AS_GIVEN = f"{CORRECTED}, as given."
    CORRECTED_AS_FOUND = f"{CORRECTED}, {FOUND}."
    CORRECTED_UNKNOWN = (
        "The throughput is a lower bound, and so is a burst: the corrected buffer time is unknown."
    )
    CORRECTED_IS_BOUND = (
        "The throughput is a lower bound, so the corrected buffer time is an upper bound (≤)."
    )
    BURSTS_LONGER = (
        "Bursts took at most {excess_ns} longer than at their rate. In this time, {frames} frames "
        "pass at the throughput."
    )
    DRAIN_TOO_SHORT = (
        "Frames of a burst that was too long still arrived in the second half of the wait: the "
        "buffer empties more slowly than at the throughput, and may be larger. Use a longer drain."
    )
    NO_BURST_FILLS = (
        "There is no figure: the throughput is not below the rate of the bursts, so no burst fills "
        "a buffer (RFC 9004 section 6.1)."
    )
    # Of recovery and resets.
    OVERLOAD = "Overload at {high_fps} fps, then {low_fps} fps, per direction."
    UPPER_BOUND = (
        "≤ marks an upper bound: the gateway or the tester was kept from its CPU, which may have "
        "lost the last frames."
    )
    NO_OVERLOAD = (
        "A direction that lost no frame in a trial had no overload to recover from: its recovery "
        "time is uncertain (in parentheses), or there is none."
    )
    RESET = "{way}."
    RESET_UNWATCHED = (
        "The gateway's programs were started again, so that it is not known whether the new ones "
        "were away: noise may have lengthened the reset."
    )
    RESET_AT = f"{RESET_ASKED}."
    RESET_SEEN = f"{RESET_ASKED}; the longest loss began after {{began_ns}}."
    RESETS_SEEN = f"{RESET_ASKED}; the longest loss began after {{first_ns}} to {{last_ns}}."
    LOST_TO_END = "Frames were lost up to the end of a trial. Use longer trials."
    NOTHING_LOST = "0 means that no frame was lost in spite of the reset."
    USED_AGAIN = (
        "Connections that the gateway lost in the reset exist again after the initiator has used "
        "them. The responder can use them only then."
    )
    # Of connections.
    TRIAL_CREATES = "A trial creates {connections:connection}. Search error {error}."
    VALIDATION = (
        "Of the connections that did not answer at the trial's rate, {fast} answered when they "
        "were tested again slowly, {wrong} had replies that were delivered to another connection, "
        "and {absent} did not answer: they did not exist."
    )
    CAPACITY = (
        "alpha {alpha_ratio}, beta {beta_ratio}, gamma {gamma_ratio}, E {error}; error of the "
        "rates {rate_error}. A failed trial that decides about a number of connections was "
        "repeated; one that decides about a rate was not."
    )
    COLLAPSED = "{dut} collapsed {times:time} and was started again ({why})."
    REPAIRED = (
        "{trials:trial} passed although frames were lost while the gateway was away: the absences "
        "explain the losses, and all connections existed after the lost frames were sent again "
        "slowly."
    )
    TEAR_DOWN = (
        "The rate is N / (median deletion time of the full table - that of the empty table), by "
        "the gateway's own clock."
    )
    UNCERTAIN = (
        "Parentheses mark a rate that is uncertain: the repetitions vary by more than 25 % of the "
        "difference between full and empty. Use more connections."
    )
    PORTS = "Numbers of source x destination ports: {ports}."
    CLOSED_BY_FIN = (
        "A connection is closed by FIN: FIN, FIN and ACK are phases, one after another, each at "
        "the rate."
    )
    CLOSED_BY_RST = "A connection is closed by RST: the initiator sends an RST on each connection."
    CHURN = (
        "In the initiator's direction, frames that create connections are evenly spread among "
        "those that use connections of phase 1; no frame uses a new connection again. Latencies "
        "are those of the trial at the rate found."
    )
    HALF_OPEN = (
        "Those of phase 1 are TCP handshakes. Beside them, only SYNs are sent: nobody answers "
        "these, so the new connections stay half open."
    )
    MEMORY = "Memory is that of {memory_of}, with {connections} connections and with none."
    MEMORY_UNKNOWN = (
        f'{NO_MEMORY} is not known (expected a gateway on this machine, or a command "telemetry" '
        "in [dut] that prints memory_bytes)."
    )
    MEMORY_BY_CHANCE = (
        f"{NO_MEMORY} grew by {{grown}} octets only, which may be chance (expected at least "
        "{least}: a larger table)."
    )
    NO_FIGURE = "no figure. {why}"
    NO_COMPARISON = "There is no {what}, because a value is a lower bound."
    # Of numbers of flows and of subscribers.
    DEGRADATION = (
        "Degradation is {formula} x 100 %, where X1 is the figure of one {unit}. The test of RFC "
        "8219 section 7 is {test}."
    )
    DEGRADATION_ERROR = (
        "Because of the errors of X1 and Xn, a degradation may be wrong by at most {error_points}."
    )
    BOUND_DOES_NOT_DEGRADE = "A figure that is a lower bound only has no degradation."
    ZERO_DOES_NOT_DEGRADE = (
        "A figure that is not above 0 with one {unit}, or may be 0 by its error, has no "
        "degradation, which would be a share of it."
    )
    SUBSCRIBERS = "Each frame, or each connection, is of a pseudorandom subscriber."
    FLOWS = (
        "A flow is a four-tuple. Each direction sends all flows in turn, on one pair of addresses; "
        "numbers of source x destination ports: {ports}."
    )
    FLOWS_OF_KINDS = "Foreground and background each have this number of flows."
    PARTS_AS_TRIALS = f"{PARTS} Each part lasts as long as the trial; between two parts is {DRAIN}."
    PARTS_BY_STEP = (
        f"{PARTS} Each of the first three parts lasts T = {{step_s}} for each flow that the next "
        f"part adds, followed by {DRAIN}."
    )
    PARTS_DIFFER = (
        "not all flows of a part are in the next part, whose ports differ: {ports}. Such flows "
        "end, and as many others start beside those that the next part adds."
    )
    FEW_IN_BURST = (
        f"{NOT_ALL} a burst of {{burst:frame}} has only {{frames}} for them. Use fewer {{units}}."
    )
    FEW_IN_TRIAL = (
        f"{NOT_ALL} a trial at {{rate_fps}} fps has only {{frames:frame}} for them. Use longer "
        "trials."
    )
    FEW_IN_TRIALS = (
        f"{NOT_ALL} trials at {{lowest_fps}} to {{highest_fps}} fps have only {{least}} to "
        "{most:frame} for them. Use longer trials."
    )
    FEW_IN_PARTS = f"{PARTS_HAVE} Use longer trials."
    FEW_IN_STEPS = f"{PARTS_HAVE} Use a longer --step."
    # Said while a measurement runs.
    WITHOUT_REALTIME = (
        "This user may not use a real-time priority (CAP_SYS_NICE), so trials run without one: "
        "frames leave later, and more trials are invalid."
    )
    CONNECTIONS_LOST = "Connections were lost: {how}."
    CORES_LEFT = "The gateway now has {cores:core}; the number that it had before is unknown."
    CORES_UNKNOWN = "The number of cores that the gateway has now is unknown ({why})."
    # Of `natxy run --dut`.
    OTHER_GATEWAY = (
        "The gateway is that of --dut ({gateway}), not that of the experiment's testbed."
    )
    NOT_OF_GATEWAY = "Of the experiment, this is left out for it: {left_out}."


# Those that say what "≥" marks.
BOUNDS = {
    *(Topic.BOUND_BY_TESTER, Topic.BOUND_BY_NOISE, Topic.BOUND_UNEXPLAINED),
    *(Topic.BOUND_VARIES, Topic.BOUND_BY_MAXIMUM, Topic.BOUND_OF_CAPACITY),
}


class Remark(Statement[Topic, Fact | LossOfConnections | Explanation]):
    """A statement about a result; `where` is a point of a series, a goal or a number."""

    def at(self, place: str) -> Self:
        """Returns the remark as that of a place, such as a point of a series."""
        return self.model_copy(update={"where": f"{place}: {self.where}" if self.where else place})


Remarks = tuple[Remark, ...]


def applying(codes: Mapping[Topic, bool]) -> Remarks:
    """Returns the remarks, without facts, that apply."""
    return tuple(Remark.of(code) for code, applies in codes.items() if applies)
