"""What tests of siitperf stateful share with others."""

CONF = """\
IP-L-Vers 4
IP-R-Vers 4
IPv4-L-Real 198.18.0.2
IPv4-R-Real 198.19.0.2
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a
CPU-L-Send 0
CPU-R-Recv 0
CPU-R-Send 0
CPU-L-Recv 0
Stateful 1
Fwd-var-sport 3
Fwd-var-dport 3
Fwd-sport-min 10000
Fwd-sport-max 10999
Fwd-dport-min 80
Fwd-dport-max 83
"""
ENUMERATED = CONF + "Enumerate-ports 3\n"
COMMON = "84 2000 1 300 2 2"
PHASE_1 = "4000 3990 20000 300 600"  # N M R T D
