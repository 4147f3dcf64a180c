"""What tests of ssh dut share with others."""

from natxy.dut.recipe import Recipe
from natxy.model.source import Source

SOURCE = Source(name="lab.toml")
RECIPE = """
title = "A gateway"
source = "this test"
tried = "never"
ip_versions = [[4, 4]]
stateful = true
programs = ["gw"]
packages = "gateway"

[variables]
inside = {kind = "interface", meaning = "the interface inside"}
udp_timeout_s = {kind = "number", default = 300, meaning = "timeout"}
entries = {kind = "number", optional = true, meaning = "entries"}

[commands]
prepare = ["save"]
start = ["up @{inside}", "size @{entries}", "timeout @{udp_timeout_s}"]
stop = ["down @{inside}", "forget"]
clean_up = ["restore"]
reset = ["flush", "timeout @{udp_timeout_s}"]
restart = ["bounce"]
check = ["alive"]
describe = ["version"]
telemetry = ["memory"]
count = ["count"]
delete_all = ["delete"]
set_timeout = ["timeout @{udp_timeout_s}"]
set_entries = ["size @{entries}"]
set_cores = ["cores @{udp_timeout_s}"]
"""


def recipe(text: str = RECIPE) -> Recipe:
    source = Source(name="gw.toml", text=text)
    read: Recipe = source.validated(Recipe, {"name": "gw", **source.toml()})
    return read
