"""The tree of exceptions.

NatxyError
├── ConfigurationError        a file or an option is wrong
│   ├── EngineNotFound        the engine's program is not installed
│   └── DeviceError           the engine cannot use a port
└── MeasurementError          the measurement could not be carried out
    ├── TrialRefused          the engine answered a trial with an error
    │   └── TrialCancelled    the trial was cancelled
    ├── TesterDied            the engine ended, or sent nothing for too long
    ├── ProtocolError         the engine violated the protocol
    ├── DutError              the device under test, or its lab, failed
    ├── InUse                 another tester uses a port or CPU
    ├── TesterLimit           the tester is too slow for every rate
    ├── StorageError          a journal or a result could not be written
    └── OtherTrials           a cell cannot be resumed: it asks for other trials than before

A message is one sentence: `WHERE: what is wrong (expected what)`. Its parts are texts and settings:
a program reads the names of fields, a user of the command those of options. Only `natxy.cli` prints
or exits.
"""

import difflib
from collections.abc import Iterable

from natxy.setting import Setting, in_options, in_python


class NatxyError(Exception):
    exit_status = 1

    @property
    def in_options(self) -> str:
        """The message for a user of the command."""
        return in_options(self.args)

    def __str__(self) -> str:
        return in_python(self.args)


class ConfigurationError(NatxyError):
    exit_status = 2


class EngineNotFound(ConfigurationError):
    pass


class DeviceError(ConfigurationError):
    pass


class MeasurementError(NatxyError):
    pass


class TrialRefused(MeasurementError):
    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class TrialCancelled(TrialRefused):
    pass


class TesterDied(MeasurementError):
    pass


class ProtocolError(MeasurementError):
    pass


class DutError(MeasurementError):
    pass


class InUse(MeasurementError):
    pass


class TesterLimit(MeasurementError):
    pass


class StorageError(MeasurementError):
    pass


class OtherTrials(MeasurementError):
    """A cell asks for other trials than those that its journal holds."""


def unknown_value(
    setting: Setting | str, value: object, known: Iterable[str]
) -> ConfigurationError:
    """Returns the error, with the known word that is nearest to the value if one is near."""
    words = list(known)
    near = difflib.get_close_matches(str(value).lower(), words, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return ConfigurationError(
        setting, f': unknown value "{value}" (expected {listed(words)}{hint})'
    )


def listed(words: Iterable[str]) -> str:
    """Returns the words as a person lists them: `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
