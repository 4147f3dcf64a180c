#include "port/resolution.hpp"

#include <algorithm>
#include <utility>

#include "spec/trial_spec.hpp"

namespace natxy::port {
namespace {

using spec::IpVersion;

// One of the tester's addresses on a side, with its variation.
struct Own {
  IpVersion version;
  const spec::AddressPattern& pattern;
  const spec::Series& field;
  unsigned networks;
};

template <typename Visit>
void visit_own(const spec::Stream& stream, spec::Side side, Visit visit) {
  for (const auto* kind : {&stream.foreground, &stream.background}) {
    const auto& traffic = *kind;
    if (!traffic) continue;
    if (spec::from_side(stream.direction) == side) {
      visit(Own{.version = traffic->departure.link_version(),
                .pattern = traffic->departure.link_source(),
                .field = traffic->source_field,
                .networks = traffic->networks});
    } else {
      visit(Own{.version = traffic->arrival.link_version(),
                .pattern = traffic->arrival.link_destination(),
                .field = traffic->destination_field,
                .networks = traffic->networks});
    }
  }
}

// Calls `visit` with each address of the pattern, with at most `limit` of them.
template <typename Visit>
void visit_variations(const Own& own, std::size_t limit, Visit visit) {
  const unsigned networks = own.pattern.network_byte ? own.networks : 1;
  const bool varies = !own.pattern.field.empty() && own.field.mode != spec::SeriesMode::kFixed;
  const unsigned last = varies ? own.field.max : own.field.min;
  for (unsigned value = own.field.min; value <= last; ++value) {
    for (unsigned network = 0; network < networks; ++network) {
      if (limit-- == 0) return;
      IpAddress address{.version = own.version, .octets = own.pattern.octets};
      if (own.pattern.network_byte) {
        address.octets[*own.pattern.network_byte] = static_cast<std::uint8_t>(network);
      }
      spec::put_field(address.octets.data(), own.pattern.field, value);
      visit(address);
    }
  }
}

std::optional<IpAddress> next_hop_of(const spec::NextHop& hop, IpVersion version) {
  IpAddress address{.version = version, .octets = {}};
  if (version == IpVersion::k4) {
    if (!hop.ipv4) return std::nullopt;
    std::ranges::copy(*hop.ipv4, address.octets.begin());
  } else {
    if (!hop.ipv6) return std::nullopt;
    address.octets = *hop.ipv6;
  }
  return address;
}

class Planner {
 public:
  explicit Planner(const spec::NextHop& hop) : hop_(hop) {}

  void add(const Own& own) {
    plan_.own.add(own.version, own.pattern);
    visit_variations(own, kMaxQuestions, [this](const IpAddress& address) { ask_from(address); });
  }
  void add(const IpAddress& address) {
    plan_.own.add(address);
    ask_from(address);
  }
  [[nodiscard]] NeighbourPlan take() { return std::move(plan_); }

 private:
  void ask_from(const IpAddress& address) {
    const auto next_hop = next_hop_of(hop_, address.version);
    if (hop_.mac || !next_hop || questions_to(*next_hop) == kMaxQuestions) return;
    const NeighbourQuestion question{.from = address, .next_hop = *next_hop};
    if (std::ranges::find(plan_.questions, question) == plan_.questions.end()) {
      plan_.questions.push_back(question);
    }
  }

  [[nodiscard]] std::size_t questions_to(const IpAddress& next_hop) const {
    return static_cast<std::size_t>(
        std::ranges::count(plan_.questions, next_hop, &NeighbourQuestion::next_hop));
  }

  const spec::NextHop& hop_;
  NeighbourPlan plan_;
};

}  // namespace

NeighbourPlan neighbour_plan(const spec::TrialSpec& spec, spec::Side side) {
  const auto& side_spec = spec.sides[static_cast<std::size_t>(side)];
  Planner planner(side_spec.next_hop);
  for (const auto& phase : spec.phases) {
    for (const auto& stream : phase.streams) {
      visit_own(stream, side, [&planner](const Own& own) { planner.add(own); });
    }
  }
  for (const auto& text : side_spec.own_addresses) planner.add(parse_address(text));
  return planner.take();
}

Resolution::Resolution(std::vector<NeighbourQuestion> questions)
    : questions_(std::move(questions)) {
  for (const auto& question : questions_) next_hops_[question.next_hop];
  open_ = next_hops_.size();
}

std::vector<NeighbourFrame> Resolution::open_questions(const Mac& own) const {
  std::vector<NeighbourFrame> frames;
  for (const auto& [from, next_hop] : questions_) {
    if (next_hops_.at(next_hop)) continue;
    frames.push_back(question({.address = from, .mac = own}, next_hop));
  }
  return frames;
}

void Resolution::take(const NeighbourMessage& message) {
  if (message.type != NeighbourMessage::Type::kAnswer) return;
  const auto next_hop = next_hops_.find(message.target);
  if (next_hop == next_hops_.end()) return;
  if (!next_hop->second) --open_;
  next_hop->second = message.mac;
}

NextHopMacs Resolution::macs() const {
  NextHopMacs macs;
  for (const auto& [address, mac] : next_hops_) {
    (address.version == spec::IpVersion::k4 ? macs.ipv4 : macs.ipv6) = mac;
  }
  return macs;
}

std::string Resolution::complaint() const {
  const auto open = std::ranges::find_if(
      questions_, [this](const auto& question) { return !next_hops_.at(question.next_hop); });
  if (open == questions_.end()) return {};
  const bool arp = open->next_hop.version == spec::IpVersion::k4;
  const auto others =
      std::ranges::count(questions_, open->next_hop, &NeighbourQuestion::next_hop) - 1;
  return "next hop " + to_text(open->next_hop) + " did not answer " +
         (arp ? "ARP requests" : "Neighbour Solicitations") + " from " + to_text(open->from) +
         (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

}  // namespace natxy::port
