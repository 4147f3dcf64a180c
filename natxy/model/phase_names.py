"""Names of the phases of a trial (RFC 9693)."""

ESTABLISH = "establish"  # with TCP: SYNs
MAKE_AGAIN = "make again"
VALIDATE = "validate"  # with TCP: SYN/ACKs
ASK_AGAIN = "ask again"
SAMPLE = "sample"
ACKNOWLEDGE = "acknowledge"  # the third segments of TCP handshakes
# The end of TCP connections: FIN or RST; with FIN also the responder's FIN, and the last ACK.
CLOSE = "close"
CLOSE_BACK = "close back"
LAST_ACK = "last ack"
TEST = "test"
RAMP = "ramp"  # followed by a number: a phase in which flows start before the test
HANDSHAKE = (VALIDATE, ACKNOWLEDGE)  # of TCP, after the SYNs
AGAIN = (MAKE_AGAIN, ASK_AGAIN)  # these phases end at once if no connection is missing
