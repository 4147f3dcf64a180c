#include "run/receiver_report.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "run/words.hpp"

namespace natxy::run {
namespace {

std::string text_of(const frame::IcmpError& error) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = error.ip_version == spec::IpVersion::k4 ? AF_INET : AF_INET6;
  inet_ntop(family, error.source.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

void IcmpTally::merge(const IcmpTally& other) {
  unlisted_ += other.unlisted_;
  of_others_ += other.of_others_;
  for (const auto& theirs : other.sorts_) {
    if (auto* ours = find(theirs.error)) {
      ours->count += theirs.count;
    } else if (sorts_.size() < kSorts) {
      sorts_.push_back(theirs);
    } else {
      unlisted_ += theirs.count;
    }
  }
}

spec::IcmpErrors IcmpTally::result() const {
  spec::IcmpErrors errors{.listed = {}, .unlisted = unlisted_, .of_others = of_others_};
  for (const auto& [error, count, example] : sorts_) {
    errors.listed.push_back({.ip_version = error.ip_version,
                             .type = error.type,
                             .code = error.code,
                             .mtu = error.mtu,
                             .source = text_of(error),
                             .count = count,
                             .example_hex = hex(example)});
  }
  return errors;
}

namespace {

// Returns the later of two times; kNever: there is none.
Ticks later(Ticks one, Ticks other) {
  if (one == kNever || other == kNever) return std::min(one, other);
  return std::max(one, other);
}

}  // namespace

void KindTally::merge(const KindTally& other) {
  spec::add<spec::FrameCounters>(*this, other);
  for (std::size_t i = 0; i < defects.size(); ++i) defects[i] += other.defects[i];
  // They are equal, or one is 0.
  hop_limits.inner = std::max(hop_limits.inner, other.hop_limits.inner);
  hop_limits.outer = std::max(hop_limits.outer, other.hop_limits.outer);
  delay.merge(other.delay);
  shortest.merge(other.shortest);
}

void ReceiverReport::merge(const ReceiverReport& other) {
  const auto most_overrun = std::max(overrun_frames, other.overrun_frames);
  spec::add<spec::ReceiverCounters>(*this, other);
  overrun_frames = most_overrun;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) kinds[kind].merge(other.kinds[kind]);
  foreign += other.foreign;
  neighbour += other.neighbour;
  icmp.merge(other.icmp);
  poll_gap.merge(other.poll_gap);
  last_arrival = later(last_arrival, other.last_arrival);
  const auto room = kMaxExamples - std::min(kMaxExamples, examples.size());
  const auto shown = std::min(room, other.examples.size());
  examples.insert(examples.end(), other.examples.begin(),
                  other.examples.begin() + static_cast<std::ptrdiff_t>(shown));
  connections.merge(other.connections);
  tags.insert(tags.end(), other.tags.begin(), other.tags.end());
  if (other.silence.until - other.silence.from > silence.until - silence.from) {
    silence = other.silence;
  }
  records_lost += other.records_lost;
  for (std::size_t phase = 0; phase < stragglers.size(); ++phase) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      stragglers[phase][kind] += other.stragglers[phase][kind];
    }
  }
}

}  // namespace natxy::run
