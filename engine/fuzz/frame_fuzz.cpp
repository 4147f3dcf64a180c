// Fuzzes the frame parser. It must survive any octets, and the check of a whole burst must judge a
// frame as the single checks do.
//
// An input is a choice of traffic, a number, and either a frame or octets to XOR a correct frame
// with, because few random frames have correct checksums.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "flow/flow.hpp"
#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "frame/icmp_error.hpp"
#include "port/neighbour_message.hpp"
#include "run/icmp_tally.hpp"
#include "traffic_cases.hpp"

namespace {

using namespace natxy;

constexpr flow::Shape kShape{.addresses_vary = true};
constexpr std::uint32_t kTag = frame::tag_of(1);
constexpr std::uint16_t kFrameSizeBytes = 128;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Case {
  explicit Case(const spec::Traffic& traffic, const frame::Link& link = {})
      : flow(traffic, 3),
        departure(traffic, link),
        arrival(traffic, link),
        quotation(traffic, kTag),
        layouts({&traffic}, link.vlans.size()),
        layout(frame::layout_of(traffic.arrival, link.vlans.size())) {}
  flow::Flow flow;
  frame::Departure departure;
  frame::Arrival arrival;
  frame::Quotation quotation;
  frame::Layouts layouts;
  const frame::Layout& layout;

  [[nodiscard]] flow::ValueLot values(std::uint64_t ordinal) const {
    flow::ValueLot lot;
    flow.fill<kShape>(&ordinal, 1, lot);
    return lot;
  }
  [[nodiscard]] std::vector<std::uint8_t> right_frame(std::uint64_t number) const {
    auto octets = departure.octets();
    frame::StampLot stamps;
    const std::uint32_t lateness = 0;
    stamps.fill(kTag, frame::StreamId(0), &number, &lateness, 1);
    auto* start = octets.data();
    departure.patch<kShape>(&start, 1, values(number), stamps);
    return octets;
  }
};

spec::Traffic extended() {
  using enum spec::ExtensionHeader;
  auto traffic = tests::varied_traffic(spec::IpVersion::k6, spec::IpVersion::k6);
  for (auto* format : {&traffic.departure, &traffic.arrival}) {
    format->extension_headers = {kHopByHop, kRouting, kDestinationOptions};
    format->frame_size_bytes = kFrameSizeBytes;
  }
  return traffic;
}

spec::Traffic tunnelled() {
  auto traffic = tests::varied_traffic(spec::IpVersion::k4, spec::IpVersion::k4);
  spec::Tunnel tunnel{.source = tests::address("2001:2::2"),
                      .destination = tests::address("2001:2:0:1000::2")};
  tunnel.source.field = spec::field_at(14);
  for (auto* format : {&traffic.departure, &traffic.arrival}) {
    format->tunnel = tunnel;
    format->frame_size_bytes = kFrameSizeBytes;
  }
  return traffic;
}

// The formats follow the plain frames.
const std::array<Case, 8>& cases() {
  using spec::IpVersion;
  const auto sized = [](const spec::Traffic& traffic) {
    return Case(tests::sized(traffic, kFrameSizeBytes));
  };
  static const frame::Link tagged{
      .vlans = {{.tpid = 0x88a8, .id = 100}, {.tpid = 0x8100, .id = 7}}};
  static const std::array<Case, 8> all{sized(tests::traffic(IpVersion::k4, IpVersion::k4)),
                                       sized(tests::traffic(IpVersion::k6, IpVersion::k6)),
                                       sized(tests::varied_traffic(IpVersion::k4, IpVersion::k4)),
                                       sized(tests::varied_traffic(IpVersion::k6, IpVersion::k6)),
                                       Case(extended()),
                                       Case(tunnelled()),
                                       Case(extended(), tagged),
                                       Case(tunnelled(), tagged)};
  return all;
}

// Corrects the checksums of the frame, so that the checks after them are reached too.
void repair(std::vector<std::uint8_t>& frame, const frame::Layout& layout) {
  const auto zero = [&](std::size_t at) { frame[at] = frame[at + 1] = 0; };
  if (layout.ipv4()) {
    const auto at = layout.ip + std::size_t{10};
    zero(at);
    const auto sum = frame::sum_words(frame.data() + layout.ip, 20);
    frame::store(frame.data() + at, static_cast<std::uint16_t>(~frame::fold(sum)));
  }
  zero(layout.upper + 6U);
  const auto sum = frame::sum_words(frame.data() + layout.source, 2U * layout.address_octets) +
                   frame::sum_words(frame.data() + layout.upper, frame.size() - layout.upper) +
                   frame::swap16(static_cast<std::uint16_t>(frame.size() - layout.upper)) +
                   frame::swap16(frame::kProtocolUdp);
  frame::store(frame.data() + layout.upper + 6, frame::udp_checksum(frame::fold(sum)));
}

// Returns the frame of an input, in heap memory of exactly its size, so that ASan sees a read
// beyond it. Bits of `choice`: 2 changes a correct frame, 3-5 are its number, 7 corrects its
// checksums; the others choose the traffic.
std::vector<std::uint8_t> frame_of(const Case& traffic, std::uint8_t choice,
                                   std::span<const std::uint8_t> octets) {
  if ((choice & 4U) == 0) return {octets.begin(), octets.end()};
  auto frame = traffic.right_frame((choice >> 3U) & 7U);
  for (std::size_t i = 0; i + 1 < octets.size(); i += 2)
    frame[octets[i] % frame.size()] ^= octets[i + 1];
  if ((choice & 0x80U) != 0) repair(frame, traffic.layout);
  return frame;
}

// Judges the frame between two correct ones, to reveal a judgement in the wrong bit.
std::uint32_t judge_at_once(const Case& traffic, const frame::Claimed& claimed) {
  constexpr std::uint64_t kNeighbour = 3;
  const auto beside = traffic.right_frame(kNeighbour);
  const auto right =
      traffic.layouts.claim(beside.data(), static_cast<std::uint32_t>(beside.size()), kTag);
  frame::ArrivalLot lot;
  for (const auto& each : {right, claimed, right}) lot.add(each);
  const std::array ordinals{kNeighbour, claimed.stamp.number(), kNeighbour};
  flow::ValueLot values;
  traffic.flow.fill<kShape>(ordinals.data(), 3, values);
  return traffic.arrival.judge<kShape>(lot, values, spec::kUsualHopLimit).right;
}

void judge(const Case& traffic, const frame::Claimed& claimed) {
  const bool one_by_one =
      frame::well_formed(claimed) &&
      frame::checksums_right(claimed, traffic.arrival.may_lack_checksum()) &&
      traffic.arrival.check(claimed, traffic.values(claimed.stamp.number()).at(0),
                            spec::kUsualHopLimit) == frame::Defect::kNone;
  check(judge_at_once(traffic, claimed) == (one_by_one ? 0b111U : 0b101U));
}

// Checks that the answer to a question is read as an answer about the same address.
void meet_neighbour(std::span<const std::uint8_t> octets) {
  const auto message = port::parse_neighbour_message(octets);
  if (!message || message->type != port::NeighbourMessage::Type::kQuestion) return;
  const auto answer = port::answer(*message, {2, 0, 0, 0, 0, 9});
  const auto read = port::parse_neighbour_message(answer.view());
  check(read && read->type == port::NeighbourMessage::Type::kAnswer);
  check(read->target == message->target && read->mac[5] == 9);
}

// Checks that the quotation of an ICMP error lies within its frame, and that it is counted once.
void meet_icmp_error(const Case& traffic, std::span<const std::uint8_t> octets) {
  const auto error = frame::parse_icmp_error(octets);
  if (error) {
    check(error->quoted.size() + frame::kEthernetOctets < octets.size());
    check(error->quoted.empty() || &error->quoted.back() <= &octets.back());
  }
  run::IcmpTally tally;
  tally.look_at(octets.data(), static_cast<std::uint32_t>(octets.size()),
                {&traffic.quotation, nullptr});
  const auto counted = tally.result();
  const auto listed = counted.listed.empty() ? 0 : counted.listed.front().count;
  check(listed + counted.unlisted + counted.of_others == (error ? 1U : 0U));
}

// Uses the octets as the quotation of an ICMP error with correct headers.
void meet_quotation(const Case& traffic, std::span<const std::uint8_t> octets, bool ipv6) {
  std::vector<std::uint8_t> frame(ipv6 ? 62 : 42);
  frame[12] = ipv6 ? 0x86 : 0x08;
  frame[13] = ipv6 ? 0xdd : 0;
  const auto length = octets.size() + (ipv6 ? 8 : 28);
  frame[ipv6 ? 18 : 16] = static_cast<std::uint8_t>(length >> 8U);
  frame[ipv6 ? 19 : 17] = static_cast<std::uint8_t>(length);
  frame[14] = ipv6 ? 0x60 : 0x45;
  frame[ipv6 ? 20 : 23] = ipv6 ? 58 : 1;
  frame[ipv6 ? 54 : 34] = ipv6 ? 2 : 3;
  frame.insert(frame.end(), octets.begin(), octets.end());
  meet_icmp_error(traffic, frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto& traffic = cases()[(data[0] & 3U) | (data[0] >> 4U & 4U)];
  const auto octets = frame_of(traffic, data[0], {data + 1, size - 1});
  const auto octets_count = static_cast<std::uint32_t>(octets.size());
  const auto claimed = traffic.layouts.claim(octets.data(), octets_count, kTag);
  if (claimed.layout != nullptr) judge(traffic, claimed);
  if (frame::concerns_neighbours(octets.data(), octets_count)) meet_neighbour(octets);
  meet_icmp_error(traffic, octets);
  const auto quoted = std::span(octets).subspan(std::min<std::size_t>(14, octets.size()));
  meet_quotation(traffic, quoted, (data[0] & 1U) != 0);
  return 0;
}
