"""What tests of capacity share with others."""

from dataclasses import dataclass

from natxy.errors import TrialRefused
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.tester.tester import OnProgress, ignore_progress
from tests.unit.fake_engine import FakeEngine


@dataclass(kw_only=True)
class EngineAtACorpse(FakeEngine):
    most: int = 1500

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        if spec.phases[0].streams[0].frames_of("foreground") > self.most:
            raise TrialRefused("neighbour", "nobody answers for 198.18.0.1")
        return super().run(spec, on_progress)
