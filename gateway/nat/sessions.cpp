#include "gateway/nat/sessions.hpp"

#include <algorithm>

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
  const auto newest = newest_to_.find(remote.number());
  if (newest == newest_to_.end()) return std::nullopt;
  const auto [entry, ordinal] = newest->second;
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

Sessions::Sessions(const NatConfig& config)
    : config_(config),
      table_(config.entries),
      mappings_(maps_endpoints() ? config.entries : 1),
      endpoints_(config),
      new_rate_(new_bucket()),
      work_(work_bucket()),
      queued_work_(work_queue()),
      faults_(config.faults) {}

std::optional<TokenBucket> Sessions::new_bucket() const {
  if (!config_.new_rate) return std::nullopt;
  return TokenBucket(config_.new_rate->per_s, config_.new_rate->depth);
}

std::optional<TokenBucket> Sessions::work_bucket() const {
  if (!config_.work || config_.work->frames != 0) return std::nullopt;
  return TokenBucket(config_.work->per_s, config_.work->depth);
}

std::optional<DrainQueue> Sessions::work_queue() const {
  if (!config_.work || config_.work->frames == 0) return std::nullopt;
  return DrainQueue(config_.work->frames, config_.work->per_s);
}

Opened Sessions::outbound(const InsideEndpoint& inside, const Ipv4Endpoint& remote,
                          Nanoseconds now_ns) {
  advance(now_ns);
  const auto known = table_.find(inside, remote);
  if (known != kNoEntry) return use(known, now_ns);
  const auto room = make_room(now_ns);
  if (room.refusal) return refuse(*room.refusal);
  if (has_all_its_ports(inside)) return refuse(Drop::kNatLimit);
  const auto external = choose_external(inside, remote);
  if (!external) return refuse(Drop::kNatPorts);
  return create({.inside = inside, .remote = remote, .external = *external}, now_ns, room);
}

// RFC 6146, 3.5.1: with endpoint-independent filtering, any remote endpoint may use a mapping.
Opened Sessions::inbound(const Ipv4Endpoint& external, const Ipv4Endpoint& remote,
                         Nanoseconds now_ns) {
  advance(now_ns);
  const auto known = table_.find(external, remote);
  if (known != kNoEntry) return use(known, now_ns);
  if (config_.filtering != Dependence::kEndpointIndependent) return refuse(Drop::kNatUnknown);
  const auto* mapping = mappings_.find(external);
  if (mapping == nullptr) return refuse(Drop::kNatUnknown);
  const auto inside = mapping->inside;
  const auto room = make_room(now_ns);
  if (room.refusal) return refuse(*room.refusal);
  return create({.inside = inside, .remote = remote, .external = external}, now_ns, room);
}

Opened Sessions::use(EntryNumber entry, Nanoseconds now_ns) {
  const auto leaves_ns = work(now_ns, 1);
  if (!leaves_ns) return refuse(Drop::kNatRate);
  table_.use(entry, now_ns);
  return {.connection = table_.at(entry), .leaves_ns = *leaves_ns};
}

// Returns when the gateway has done the work of this many packets; absent if it drops the packet.
std::optional<Nanoseconds> Sessions::work(Nanoseconds now_ns, std::uint64_t packets) {
  if (queued_work_) return queued_work_->departure(now_ns, packets);
  if (work_ && !work_->take(now_ns, packets)) return std::nullopt;
  return now_ns;
}

Opened Sessions::refuse(Drop reason) {
  if (reason == Drop::kNatFull) ++record_.refused_full;
  if (reason == Drop::kNatRate) ++record_.refused_rate;
  if (reason == Drop::kNatLimit) ++record_.refused_limit;
  if (reason == Drop::kNatPorts) ++record_.refused_ports;
  return {.connection = std::nullopt, .reason = reason};
}

// A connection that finds no room in the table takes no token.
Sessions::Room Sessions::make_room(Nanoseconds now_ns) {
  const bool is_full = table_.is_full();
  if (is_full && config_.replacement == Replacement::kRefuse) return {.refusal = Drop::kNatFull};
  if (new_rate_ && !new_rate_->take(now_ns)) return {.refusal = Drop::kNatRate};
  const auto leaves_ns = work(now_ns, config_.work ? config_.work->created : 1);
  if (!leaves_ns) return {.refusal = Drop::kNatRate};
  if (is_full) {
    remove(table_.oldest());
    ++record_.overwritten;
  }
  return {.refusal = std::nullopt, .leaves_ns = *leaves_ns};
}

bool Sessions::is_free(const Ipv4Endpoint& external, const Ipv4Endpoint& remote) const {
  if (table_.find(external, remote) != kNoEntry) return false;
  return !maps_endpoints() || mappings_.find(external) == nullptr;
}

// RFC 6888 REQ-4: a connection of an inside endpoint that has a port needs no further one.
bool Sessions::has_all_its_ports(const InsideEndpoint& inside) const {
  if (config_.ports_per_host == 0 || mappings_.find(inside) != nullptr) return false;
  const auto ports = ports_of_.find(inside.address);
  return ports != ports_of_.end() && ports->second >= config_.ports_per_host;
}

std::optional<Ipv4Endpoint> Sessions::choose_external(const InsideEndpoint& inside,
                                                      const Ipv4Endpoint& remote) {
  if (maps_endpoints()) {
    if (const auto* mapping = mappings_.find(inside)) return mapping->external;
  }
  if (const auto same = faults_.collision(inside, remote, table_)) {
    ++record_.collided;
    return same;
  }
  return endpoints_.choose(inside,
                           [&](const Ipv4Endpoint& external) { return is_free(external, remote); });
}

Opened Sessions::create(const Connection& connection, Nanoseconds now_ns, const Room& room) {
  const auto entry = table_.add(connection, now_ns);
  if (maps_endpoints() && mappings_.join(connection.inside, connection.external)) {
    endpoints_.take(connection.inside, connection.external);
    if (config_.ports_per_host > 0) ++ports_of_[connection.inside.address];
  }
  ++record_.created;
  record_.peak = std::max<std::uint64_t>(record_.peak, table_.size());
  faults_.created(entry, table_, now_ns);
  return {.connection = connection, .leaves_ns = room.leaves_ns};
}

void Sessions::remove(EntryNumber entry) {
  const auto connection = table_.at(entry);
  table_.remove(entry);
  endpoints_.freed(connection.external);
  if (!maps_endpoints()) return;
  const auto mapped = mappings_.find(connection.inside)->external;  // another one after a change
  endpoints_.freed(mapped);
  if (!mappings_.leave(connection.inside)) return;
  endpoints_.give_back(mapped);
  const auto ports = ports_of_.find(connection.inside.address);
  if (ports != ports_of_.end() && --ports->second == 0) ports_of_.erase(ports);
}

// Removes expired connections, which are the first in the order of use, because all have the same
// timeout. Then carries out the faults that are due.
void Sessions::advance(Nanoseconds now_ns) {
  for (auto oldest = table_.oldest();
       oldest != kNoEntry && now_ns - table_.used_ns(oldest) >= config_.timeout_ns;
       oldest = table_.oldest()) {
    remove(oldest);
    ++record_.expired;
  }
  while (const auto alarm = faults_.due(table_, now_ns)) {
    if (!alarm->forgets) {
      change_entry(alarm->entry);
      continue;
    }
    remove(alarm->entry);
    ++record_.forgotten;
  }
}

// Deletes all connections. Each deletion has a time at which it is over, so that a flush that is
// kept from its core for a while does not take longer in total.
std::uint64_t Sessions::flush(const Clock& clock) {
  const auto start_ns = clock();
  const auto wait_for = [&](Nanoseconds lasts_ns) {
    while (lasts_ns > 0 && clock() - start_ns < lasts_ns) {
    }
  };
  wait_for(config_.flush_ns);
  std::uint64_t deleted = 0;
  while (table_.oldest() != kNoEntry) {
    remove(table_.oldest());
    ++deleted;
    if (config_.deletion_ns > 0) wait_for(config_.flush_ns + deleted * config_.deletion_ns);
  }
  record_.flushed += deleted;
  return deleted;
}

void Sessions::remove_all() {
  while (table_.oldest() != kNoEntry) remove(table_.oldest());
}

void Sessions::clear() {
  remove_all();
  table_.count_anew();
  endpoints_ = ExternalEndpoints(config_);
  new_rate_ = new_bucket();
  work_ = work_bucket();
  queued_work_ = work_queue();
  faults_ = NatFaults(config_.faults);
  record_ = {};
}

bool Sessions::forget(std::uint64_t ordinal) {
  const auto entry = table_.find_ordinal(ordinal);
  if (entry == kNoEntry) return false;
  remove(entry);
  ++record_.forgotten;
  return true;
}

bool Sessions::change(std::uint64_t ordinal) {
  const auto entry = table_.find_ordinal(ordinal);
  if (entry == kNoEntry) return false;
  change_entry(entry);
  return true;
}

// Changes only this connection: a mapping that it shares with others stays.
void Sessions::change_entry(EntryNumber entry) {
  const auto& connection = table_.at(entry);
  const auto other = endpoints_.choose(connection.inside, [&](const Ipv4Endpoint& external) {
    return external != connection.external && is_free(external, connection.remote);
  });
  if (!other) return;
  table_.change_external(entry, *other);
  ++record_.changed;
}

NatRecord Sessions::record() const {
  auto copy = record_;
  copy.entries = table_.size();
  return copy;
}

}  // namespace natxy::gateway
