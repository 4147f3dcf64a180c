"""The highest sizes and timeouts that a gateway's connection tracking table takes."""

from typing import Any

from natxy.dut.config import (
    MAX_BUCKETS,
    MAX_ENTRIES,
    MAX_TIMEOUT_S,
    DutConfig,
    DutSection,
    SshConfig,
)
from natxy.dut.recipe import ENTRIES, HASH_SIZE, TIMEOUT, read_recipe
from natxy.model.source import Source

OF_LINUX = {ENTRIES: MAX_ENTRIES, HASH_SIZE: MAX_BUCKETS, TIMEOUT: MAX_TIMEOUT_S}


def table_limits(section: dict[str, Any], source: Source) -> dict[str, int]:
    """Returns the highest values that are known, by the names that recipes have for them."""
    if section.get("kind") in ("namespace", "guest"):
        return OF_LINUX
    if section.get("kind") != "ssh":
        return {}
    config: DutSection = source.validated(DutConfig, section, at=("dut",))
    assert isinstance(config, SshConfig)
    variables = read_recipe(config.recipe, source).variables
    known = {name: variables[name].most for name in OF_LINUX if name in variables}
    return {name: most for name, most in known.items() if most is not None}
