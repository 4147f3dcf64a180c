"""Measures another gateway than that of an experiment's testbed (`natxy run --dut`).

The tester's ports lead to the gateway, so that both come from the file that `--dut` names, and so
does how connections are made, because gateways differ in how fast they make them. Traffic, number
of connections and columns stay those of the experiment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from natxy.dut.config import settable_keys
from natxy.errors import ConfigurationError
from natxy.model.experiment import Experiment
from natxy.model.remark import Remark, Topic
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.setting import Setting

SECTIONS = ("tester", "dut")  # that the file replaces
PHASE_1 = ("rate_fps", "incomplete", "repeats", "minimum")  # of [connections], also of the file
CHOICES = ("kind", "driver", "recipe", "host")  # a change of one of these is another gateway


@dataclass(kw_only=True)
class OtherGateway:
    """The gateway that a file names, and what of an experiment it has no use for."""

    source: Source
    sections: dict[str, Any]
    phase_1: dict[str, Any]
    known: set[str]  # keys of [dut] that an experiment can set
    left_out: dict[str, None] = field(default_factory=dict)  # in the order in which they were found

    @classmethod
    def of(cls, source: Source) -> "OtherGateway":
        """Raises ConfigurationError if the file is no testbed, or has no gateway."""
        read = source.toml()
        testbed: Testbed = source.validated(Testbed, read)
        if "kind" not in testbed.dut:
            source.refuse(("dut",), "is missing (expected the gateway to measure)")
        return cls(
            source=source,
            sections={name: read[name] for name in SECTIONS if name in read},
            phase_1=_phase_1(read.get("connections", {}), is_wanted=True),
            known=settable_keys(testbed.dut, source),
        )

    def testbed(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the testbed with this gateway, and the tester that is connected to it."""
        kept = {name: section for name, section in written.items() if name not in SECTIONS}
        if isinstance(connections := kept.get("connections"), dict):
            kept["connections"] = _phase_1(connections, is_wanted=False) | self.phase_1
        return kept | self.sections

    def experiment(self, asked: Experiment) -> Experiment:
        """Returns the experiment without what only suits the gateway of its testbed."""
        own = asked.gateway_options
        fitted = asked.model_copy(
            update={
                "vary": (),
                "changes": self._changes("changes", asked.changes),
                "options": self._options(own, asked.options),
                "quick": asked.quick.model_copy(
                    update={
                        "changes": self._changes("quick.changes", asked.quick.changes),
                        "options": self._options(own, asked.quick.options),
                    }
                ),
                "column": tuple(
                    column.model_copy(
                        update={
                            "testbed": self._changes("column.testbed", column.testbed),
                            "quick": self._changes("column.quick", column.quick),
                            "options": self._options(own, column.options),
                        }
                    )
                    for column in asked.columns
                ),
                "measure": tuple(
                    measure.model_copy(
                        update={
                            "testbed": self._changes("measure.testbed", measure.testbed),
                            "options": self._options(own, measure.options),
                            "quick": self._options(own, measure.quick),
                        }
                    )
                    for measure in asked.measure
                ),
            }
        )
        if asked.published is None:
            return fitted
        published = asked.published.model_copy(update={"gateway_differs": ()})
        return fitted.model_copy(update={"published": published})

    @property
    def remarks(self) -> Iterator[Remark]:
        """Yields which gateway is measured, and what it has no use for."""
        dut = self.sections["dut"]
        chosen = tuple(str(dut[key]) for key in CHOICES if key in dut)
        yield Remark.of(Topic.OTHER_GATEWAY, gateway=chosen)
        if self.left_out:
            yield Remark.of(Topic.NOT_OF_GATEWAY, left_out=tuple(self.left_out))

    def _changes(self, where: str, changes: dict[str, Any]) -> dict[str, Any]:
        dut = changes.get("dut")
        if not isinstance(dut, dict):
            return changes
        if chosen := [key for key in CHOICES if key in dut]:
            raise ConfigurationError(
                Setting("dut"),
                f": {where} of the experiment chooses a gateway by dut.{chosen[0]} (expected an "
                "experiment that measures only the gateway of its testbed)",
            )
        self.left_out |= {f"dut.{key}": None for key in dut if key not in self.known}
        return changes | {"dut": {key: dut[key] for key in dut if key in self.known}}

    def _options(self, own: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, Any]:
        self.left_out |= {f"option {name}": None for name in own if name in options}
        return {name: value for name, value in options.items() if name not in own}


def _phase_1(connections: Mapping[str, Any], *, is_wanted: bool) -> dict[str, Any]:
    """Returns the keys that say how phase 1 is made, or the others."""
    return {key: connections[key] for key in connections if (key in PHASE_1) == is_wanted}
