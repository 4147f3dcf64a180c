"""What can go wrong, as one tree of exceptions.

NatxyError
├── ConfigurationError        what a person wrote: a file, an option
│   ├── EngineNotFound        the engine's program is not installed
│   └── DeviceError           a port that the engine cannot use
└── MeasurementError          the measurement could not be carried out
    ├── TrialRefused          the engine answered a trial with an error
    │   └── TrialCancelled
    ├── TesterDied            the engine ended, or fell silent
    ├── ProtocolError         the engine does not speak as it should
    ├── DutError              the device under test, or its lab
    ├── InUse                 a port or CPU that another tester has
    ├── TesterLimit           no rate at all is within what the tester can do
    └── StorageError          a journal or a result could not be written

Each is one sentence: what, where, what would be right. Below `cli` nobody prints or exits.
"""


class NatxyError(Exception):
    exit_status = 1


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
