#include "run/warm_up.hpp"

#include "run/words.hpp"

namespace natxy::run {

std::vector<Probe> probes_of(const std::vector<StreamPlan>& plans) {
  std::vector<Probe> probes;
  for (const auto& plan : plans) {
    for (const auto kind : {spec::Kind::kForeground, spec::Kind::kBackground}) {
      if (plan.mix.count(kind, plan.schedule.frames()) > 0) {
        probes.push_back({.plan = &plan, .kind = kind});
      }
    }
  }
  return probes;
}

namespace {

std::string hint(frame::Defect defect) {
  if (defect != frame::Defect::kAddress && defect != frame::Defect::kPort) return "";
  return " (a stateful gateway needs [connections] in the testbed)";
}

}  // namespace

std::string missing_probes(const std::vector<Probe>& probes, std::uint64_t timeout_ns) {
  std::string sentence = "no probe frame arrived within " + milliseconds(timeout_ns);
  for (const auto& probe : probes) {
    if (probe.arrived()) continue;
    sentence += "; " + words(probe.plan->direction) + " " + words(probe.kind) + ": " +
                std::to_string(probe.sent) + " sent from the " + words(probe.plan->from()) + ", ";
    sentence += probe.defect ? "those that arrived on the " + words(probe.plan->to()) +
                                   " had a wrong " + words(*probe.defect) + hint(*probe.defect)
                             : "none arrived on the " + words(probe.plan->to());
  }
  return sentence;
}

}  // namespace natxy::run
