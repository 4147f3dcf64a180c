"""The `[dut]` section of a testbed, one model for each kind."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Cpu = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """Frozen, and a key that nobody knows is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoDutConfig(Section):
    """Somebody else looks after the device under test."""

    kind: Literal["none"] = "none"


class NamespaceConfig(Section):
    """A gateway in a network namespace of this machine."""

    kind: Literal["namespace"]
    driver: Literal["kernel-router", "tayga", "nat44"] = "kernel-router"
    gateway_cpu: Cpu | None = None
    """Where the gateway runs; without it, the last CPU that the tester's workers leave free."""
    device: Literal["auto", "af_xdp", "af_packet"] = "auto"
    networks: Annotated[int, Field(ge=1, le=256)] = 1
    """Destination networks a side that a translator has mappings for; a router takes all 256."""
    mtu_bytes: Annotated[int, Field(ge=1280, le=3498)] | None = None
    """Of both links; 1500 without it, 2000 where the gateway translates."""
    conntrack_entries: Annotated[int, Field(ge=1024)] | None = None
    """Largest connection tracking table (driver nat44); the kernel's own where it is not given."""
    udp_timeout_s: Annotated[int, Field(ge=1)] = 300
    """Life of an idle connection (driver nat44)."""

    @model_validator(mode="after")
    def _of_this_driver(self) -> Self:
        """A key that this driver does nothing with would be a silent mistake."""
        for key, driver in (
            ("networks", "tayga"),
            ("conntrack_entries", "nat44"),
            ("udp_timeout_s", "nat44"),
        ):
            if key in self.model_fields_set and self.driver != driver:
                raise ValueError(f"{key} is for driver {driver}, not for {self.driver}")
        return self


class CommandConfig(Section):
    """A device that shell commands look after, over ssh or anything else."""

    kind: Literal["command"]
    start: str | None = None
    stop: str | None = None
    reset: str | None = None
    describe: str | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 60.0


class ReferenceConfig(Section):
    """The calibration gateway natxy-gateway, a gateway with known properties."""

    kind: Literal["reference"]
    link: Literal["memif"] = "memif"
    gateway_cpu: Cpu | None = None
    networks: Annotated[int, Field(ge=1, le=256)] = 1
    mtu_bytes: Annotated[int, Field(ge=1280, le=9198)] = 2000
    faults: tuple[dict[str, Any], ...] = ()
    """What it does wrong, in the words of docs/reference/gateway.md."""
    translation: dict[str, Any] | None = None
    """Without it: what the IP versions of the two sides ask for."""
    poll_gap_limit_us: Annotated[float, Field(gt=0)] = 1000.0
    """A trial in which the gateway did not poll its ports for longer is invalid."""


DutConfig = Annotated[
    NoDutConfig | NamespaceConfig | CommandConfig | ReferenceConfig, Field(discriminator="kind")
]
