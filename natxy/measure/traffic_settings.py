"""What a measurement may change in a testbed's traffic, and the sessions of a series of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES, rfc8219_sizes
from natxy.model.source import Source
from natxy.model.testbed import ConnectionsSection, Testbed, TrafficSection
from natxy.setting import Setting
from natxy.trial.session import Session

TESTBEDS = "the testbed's"
FRAME_SIZE = Setting(
    "frame_size_bytes",
    "Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20 octets fewer",
    "BYTES",
    option="frame-size",
    default=TESTBEDS,
    panel="Traffic",
    short="Octets of the frame as IPv6, with FCS",
)
FOREGROUND = Setting(
    "foreground_percent",
    "Share of the frames that are foreground, in %: those that a translator translates; the rest "
    "is native IPv6",
    "PERCENT",
    option="foreground",
    default=TESTBEDS,
    panel="Traffic",
)
NETWORKS = Setting(
    "networks",
    "Number of destination networks behind each side, 1 to 256",
    "N,...",
    default=TESTBEDS,
    panel="Traffic",
)
DIRECTION = Setting(
    "direction",
    "Direction of the traffic: both, forward (left to right) or reverse",
    "WHICH",
    default=TESTBEDS,
    panel="Traffic",
)
CONNECTIONS = Setting(
    "connections",
    "Connections that each trial first creates in a stateful gateway (phase 1)",
    "N",
    default=TESTBEDS,
    panel="Traffic",
)
ESTABLISHMENT_RATE = Setting(
    "establishment_rate_cps",
    "Rate of phase 1, in connections a second",
    "CPS",
    default="the testbed's; if it has none, Natxy first searches for the highest rate of new "
    "connections and uses half of it",
    panel="Traffic",
)
# Those of which a series has several values, with the keys in [traffic] and [connections].
OF_SERIES = (FRAME_SIZE, FOREGROUND, NETWORKS)
OF_TESTBED: Mapping[Setting, tuple[str, ...]] = {
    DIRECTION: ("direction",),
    NETWORKS: ("left_networks", "right_networks"),
    CONNECTIONS: ("count",),
    ESTABLISHMENT_RATE: ("rate_fps",),
}


KEYS: Mapping[Setting, tuple[str, ...]] = {
    FRAME_SIZE: ("frame_size_bytes",),
    FOREGROUND: ("n", "m"),
    **OF_TESTBED,
}
BY_KEY = {key: setting for setting, keys in KEYS.items() for key in keys}
SECTIONS: Mapping[str, type[Model]] = {
    "traffic": TrafficSection,
    "connections": ConnectionsSection,
}
Values = Mapping[Setting, Any]  # None: it is not given


@dataclass(frozen=True, kw_only=True)
class Given(Source):
    """A testbed's source; an error about a key that a setting gives, by default any, names the
    setting."""

    keys: frozenset[str] = frozenset(BY_KEY)

    def refuse(self, path: tuple[str, ...], *sentence: str | Setting) -> NoReturn:
        section, key = ("", *path)[-2:]
        if section in ("", *SECTIONS) and key in self.keys:
            raise ConfigurationError(BY_KEY[key], ": ", *sentence)
        super().refuse(path, *sentence)


def beside_values(source: Source, values: Values) -> Source:
    """Returns the testbed's source, beside which these values are given."""
    given = (setting for setting, value in values.items() if value is not None)
    keys = frozenset(key for setting in given for key in KEYS[setting])
    return Given(name=source.name, text=source.text, keys=keys)


def with_values(testbed: Testbed, values: Values, *, sets_connections: bool = False) -> Testbed:
    """Returns the testbed with these values; ConfigurationError if one is wrong.

    A testbed without [connections] gets some if their number is given, or if the measurement sets
    it.
    """
    given = {setting: value for setting, value in values.items() if value is not None}
    if testbed.connections is None:
        if sets_connections:
            given.setdefault(CONNECTIONS, 1)
        if ESTABLISHMENT_RATE in given and CONNECTIONS not in given:
            raise ConfigurationError(
                ESTABLISHMENT_RATE,
                ": the testbed has no [connections] (expected ",
                CONNECTIONS,
                " as well)",
            )
    keys = {key: value for setting, value in given.items() for key in KEYS[setting]}
    sections = {name: _changed(testbed, name, keys) for name in SECTIONS}
    return testbed.model_copy(update=sections)


def _changed(testbed: Testbed, name: str, keys: Mapping[str, Any]) -> Model | None:
    """Returns a section of the testbed with those of the keys that it has."""
    kind = SECTIONS[name]
    section: Model | None = getattr(testbed, name)
    own = {key: value for key, value in keys.items() if key in kind.model_fields}
    if not own:
        return section
    written = {} if section is None else section.model_dump(mode="json")
    changed: Model = Given(name=name).validated(kind, written | own)
    return changed


def check_series(
    testbed: Testbed, sizes: tuple[int, ...] | None, shares: tuple[Fraction, ...] | None
) -> None:
    """Raises ConfigurationError if [traffic] cannot have a frame size or a share."""
    for share, size in series_of(testbed.traffic, sizes, shares):
        _changed(testbed, "traffic", changes(share, size))


def changes(share: Fraction, size_bytes: int) -> dict[str, Any]:
    """Returns the keys of [traffic] for a share of foreground traffic and a frame size."""
    return {"frame_size_bytes": size_bytes, "n": share.denominator, "m": share.numerator}


def series_of(
    traffic: TrafficSection, sizes: tuple[int, ...] | None, shares: tuple[Fraction, ...] | None
) -> list[tuple[Fraction, int]]:
    """Returns each share with each size; the sizes of RFC 8219 are those of the IP version."""
    shares = shares or (Fraction(traffic.m, traffic.n),)
    chosen = sizes or (traffic.frame_size_bytes,)
    if sizes == RFC8219_SIZES_BYTES:
        chosen = rfc8219_sizes(ipv4_alone=_is_ipv4_alone(traffic, shares))
    return [(share, size) for share in shares for size in chosen]


def places(
    session: Session,
    sizes: tuple[int, ...] | None,
    shares: tuple[Fraction, ...] | None,
    networks: tuple[int, ...] | None = None,
) -> list[Session]:
    """Returns a session for each size with each mix and number of networks; all are checked.

    None stands for the testbed's. Of the sizes of RFC 8219 it leaves out those that do not fit the
    MTU, and those without room for the extension headers.
    """
    if networks is not None:
        return [
            place
            for each in session.with_networks(*networks)
            for place in places(each, sizes, shares)
        ]
    check_series(session.testbed, sizes, shares)
    by_rfc = sizes == RFC8219_SIZES_BYTES
    series = series_of(session.testbed.traffic, sizes, shares)
    found = []
    for share, size in series:
        place = session.with_traffic(**changes(share, size))
        if by_rfc and not (place.traffic.sizes.fit_mtu and place.traffic.sizes.hold_headers):
            continue
        place.traffic.check()
        found.append(place)
    measured = tuple({each.testbed.traffic.frame_size_bytes: None for each in found})
    mixes = tuple(dict.fromkeys(share for share, _ in series))
    return [each.in_series(frame_sizes=measured, foregrounds=mixes) for each in found]


def _is_ipv4_alone(traffic: TrafficSection, shares: tuple[Fraction, ...]) -> bool:
    """Returns whether only IPv4 is sent: background traffic, in any mix, is IPv6."""
    versions = {traffic.left_ip_version, traffic.right_ip_version}
    return versions == {4} and all(share == 1 for share in shares)
