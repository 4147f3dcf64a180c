"""The names of natxy with their types, for type checkers.

__init__.py reads these lines, and imports each name when it is first used.
"""

from natxy.api import Testbed as Testbed
from natxy.api import connect as connect
from natxy.api import timing as timing
from natxy.campaign.journal import read_journal as read_journal
from natxy.campaign.loaded import Results as Results
from natxy.campaign.loaded import load as load
from natxy.errors import NatxyError as NatxyError
from natxy.measure.table_size import PortRange as PortRange
from natxy.measure.table_size import Size as Size
from natxy.model.measurement import Figure as Figure
from natxy.model.measurement import Measurement as Measurement
from natxy.procedure.back_to_back import BackToBackPlan as BackToBackPlan
from natxy.procedure.back_to_back import back_to_back as back_to_back
from natxy.procedure.capacity import CapacityPlan as CapacityPlan
from natxy.procedure.capacity import capacity as capacity
from natxy.procedure.churn import ChurnPlan as ChurnPlan
from natxy.procedure.churn import churn as churn
from natxy.procedure.closing import ClosingPlan as ClosingPlan
from natxy.procedure.closing import closing as closing
from natxy.procedure.degradation import Column as Column
from natxy.procedure.degradation import DegradationPlan as DegradationPlan
from natxy.procedure.degradation import degradation as degradation
from natxy.procedure.delay_variation import IpdvPlan as IpdvPlan
from natxy.procedure.delay_variation import PdvPlan as PdvPlan
from natxy.procedure.delay_variation import ipdv as ipdv
from natxy.procedure.delay_variation import pdv as pdv
from natxy.procedure.establishment import EstablishmentPlan as EstablishmentPlan
from natxy.procedure.establishment import establishment as establishment
from natxy.procedure.establishment import with_phase_1_rate as with_phase_1_rate
from natxy.procedure.frame_loss import FrameLossPlan as FrameLossPlan
from natxy.procedure.frame_loss import frame_loss as frame_loss
from natxy.procedure.latency import LatencyPlan as LatencyPlan
from natxy.procedure.latency import latency as latency
from natxy.procedure.mlr_throughput import MlrThroughputPlan as MlrThroughputPlan
from natxy.procedure.mlr_throughput import mlr_throughput as mlr_throughput
from natxy.procedure.overload import OverloadPlan as OverloadPlan
from natxy.procedure.overload import overload as overload
from natxy.procedure.recovery import RecoveryPlan as RecoveryPlan
from natxy.procedure.recovery import recovery as recovery
from natxy.procedure.reset import ResetPlan as ResetPlan
from natxy.procedure.reset import reset as reset
from natxy.procedure.scale_up import ScaleUpPlan as ScaleUpPlan
from natxy.procedure.scale_up import scale_up as scale_up
from natxy.procedure.self_test import Ceiling as Ceiling
from natxy.procedure.self_test import SelfTestPlan as SelfTestPlan
from natxy.procedure.self_test import self_test as self_test
from natxy.procedure.tear_down import TearDownPlan as TearDownPlan
from natxy.procedure.tear_down import tear_down as tear_down
from natxy.procedure.throughput import ThroughputPlan as ThroughputPlan
from natxy.procedure.throughput import throughput as throughput
from natxy.report.results_csv import rows as rows
from natxy.search.bisection import SearchError as SearchError
from natxy.search.capacity_goal import CapacityGoal as CapacityGoal
from natxy.search.mlr_goal import MlrGoal as MlrGoal
from natxy.search.mlr_goal import pdr_goal as pdr_goal
from natxy.search.mlr_goal import rfc2544_goal as rfc2544_goal
from natxy.search.settings import LossTolerance as LossTolerance
from natxy.statistics import median as median
from natxy.statistics import summary as summary
from natxy.trial.bursts import Bursts as Bursts
from natxy.trial.observer import Observer as Observer
from natxy.trial.session import Session as Session
from natxy.trial.timing import Timing as Timing

HOMES: dict[str, str]
__all__: list[str]
__version__: str
