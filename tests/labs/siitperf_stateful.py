"""What tests of siitperf stateful share with others."""

CONF = """\
# A stateful NAT44 gateway: initiator left, responder right
IP-L-Vers 4
IP-R-Vers 4
IPv4-L-Real 198.18.0.2
IPv4-R-Real 198.19.0.2
MAC-L-DUT a0:36:9f:c5:e6:58
MAC-R-DUT a0:36:9f:c5:e6:5a
CPU-L-Send 2 # Left Sender
CPU-R-Recv 4 # Right Receiver
CPU-R-Send 6 # Right Sender
CPU-L-Recv 8 # Left Receiver
Fwd-var-sport 3
Fwd-var-dport 3
Fwd-sport-min 10000
Fwd-sport-max 10999
Fwd-dport-min 80
Fwd-dport-max 83
Stateful 1
Enumerate-ports 3 # unique pseudorandom
Responder-ports 3 # the name that Responder-tuples had
"""
TESTER = "[tester]\ncores = [0]\nlateness_tolerance_us = 40000\n"
NAMESPACE = TESTER + "[dut]\nkind = 'namespace'\nconntrack_entries = 8192\n"
NAT44 = NAMESPACE + "driver = 'nat44'\n"
