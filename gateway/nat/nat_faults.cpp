#include "gateway/nat/nat_faults.hpp"

namespace natxy::gateway {

NatFaults::NatFaults(const std::vector<NatFault>& faults) : faults_(faults) {
  for (const auto& fault : faults_) {
    if (const auto* collide = std::get_if<NatCollide>(&fault)) collide_every_ = collide->every;
  }
}

std::optional<Ipv4Endpoint> NatFaults::collision(const InsideEndpoint& inside,
                                                 const Ipv4Endpoint& remote,
                                                 const ConnectionTable& table) {
  if (collide_every_ == 0 || ++seen_ < collide_every_) return std::nullopt;
  const auto found = newest_to_.find(remote.number());
  if (found == newest_to_.end()) return std::nullopt;
  const auto [entry, ordinal] = found->second;
  if (table.ordinal(entry) != ordinal || table.at(entry).inside == inside) return std::nullopt;
  seen_ = 0;
  return table.at(entry).external;
}

void NatFaults::created(EntryNumber entry, const ConnectionTable& table, Nanoseconds now_ns) {
  const auto ordinal = table.ordinal(entry);
  if (collide_every_ != 0) newest_to_[table.at(entry).remote.number()] = {entry, ordinal};
  for (const auto& fault : faults_) {
    arm(fault, {.entry = entry, .ordinal = ordinal, .forgets = false}, now_ns);
  }
}

void NatFaults::arm(const NatFault& fault, const Alarm& alarm, Nanoseconds now_ns) {
  if (const auto* forget = std::get_if<NatForget>(&fault)) {
    if (forget->connection != alarm.ordinal) return;
    alarms_.put(now_ns + forget->after_ns,
                {.entry = alarm.entry, .ordinal = alarm.ordinal, .forgets = true});
  } else if (const auto* change = std::get_if<NatChange>(&fault)) {
    if (change->connection == alarm.ordinal) alarms_.put(now_ns + change->after_ns, alarm);
  }
}

std::optional<NatFaults::Alarm> NatFaults::due(const ConnectionTable& table, Nanoseconds now_ns) {
  while (alarms_.has_due(now_ns)) {
    const auto alarm = alarms_.take().second;
    if (table.ordinal(alarm.entry) == alarm.ordinal) return alarm;
  }
  return std::nullopt;
}

}  // namespace natxy::gateway
