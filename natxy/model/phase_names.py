"""Names of the phases of a trial (RFC 9693)."""

ESTABLISH = "establish"
MAKE_AGAIN = "make again"
VALIDATE = "validate"
ASK_AGAIN = "ask again"
SAMPLE = "sample"
TEST = "test"
RAMP = "ramp"  # followed by a number: a phase in which flows start before the test
AGAIN = (MAKE_AGAIN, ASK_AGAIN)  # these phases end at once if no connection is missing
