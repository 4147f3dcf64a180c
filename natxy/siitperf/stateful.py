"""What a stateful trial asks of siitperf.conf and of the arguments N M R T D together."""

from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.siitperf.arguments import Arguments, Phase1
from natxy.siitperf.configuration import Configuration, Direction, Side


def check_phase_1(arguments: Arguments, configuration: Configuration) -> None:
    phase_1 = arguments.phase_1
    if phase_1 is None:
        return
    _check_delay(phase_1)
    frames = phase_1.foreground(arguments.n, arguments.m)
    if frames < phase_1.table_size:
        raise ConfigurationError(
            f'M: "{phase_1.table_size}" is more than the {frames} foreground frames among N = '
            f"{phase_1.frames}, 1 to {frames} is right"
        )
    _check_combinations(frames, configuration)
    if configuration.responder_tuples and phase_1.table_size == 1:
        configuration.entries.refuse("Responder-tuples", "does not go with M = 1; 0 is right")


def _check_delay(phase_1: Phase1) -> None:
    lasts_ms = Fraction(1000 * phase_1.frames, phase_1.rate_fps) + phase_1.timeout_ms
    if lasts_ms > phase_1.delay_ms:
        raise ConfigurationError(
            f'D: "{phase_1.delay_ms}" is shorter than 1000 N / R + T, {-(-lasts_ms // 1)} or more '
            "is right"
        )


def _check_combinations(frames: int, configuration: Configuration) -> None:
    """Each preliminary frame of an enumeration is a combination of its own."""
    if not configuration.enumerated_ports and not configuration.enumerated_addresses:
        return
    combinations = 1
    if configuration.enumerated_ports:
        combinations *= _ports(_initiators(configuration))
    if configuration.enumerated_addresses:
        combinations *= _addresses(configuration.left) * _addresses(configuration.right)
    if combinations < frames:
        raise ConfigurationError(
            f"N: {frames} foreground frames are more than the {combinations} unique combinations "
            f"of {configuration.entries.name}, {combinations} or fewer is right"
        )


def _initiators(configuration: Configuration) -> Direction:
    return configuration.forward if configuration.stateful == 1 else configuration.reverse


def _ports(direction: Direction) -> int:
    sources = direction.source_port_max - direction.source_port_min + 1
    return sources * (direction.destination_port_max - direction.destination_port_min + 1)


def _addresses(side: Side) -> int:
    assert side.field_min is not None, "a side whose addresses vary has a range"
    assert side.field_max is not None
    return side.field_max - side.field_min + 1
