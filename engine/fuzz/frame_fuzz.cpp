// Fuzzes the frame parser. It must survive any octets, and the check of a whole burst must judge a
// frame as the single checks do.
//
// An input is an octet of choices, an octet that chooses the traffic, and either a frame or octets
// to XOR a correct frame with, because few random frames have correct checksums.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <vector>

#include "flow/flow.hpp"
#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "frame/icmp_error.hpp"
#include "frame/tcp.hpp"
#include "port/neighbour_message.hpp"
#include "run/receiver_report.hpp"
#include "traffic_cases.hpp"

namespace {

using namespace natxy;

constexpr flow::Shape kUdpShape{.addresses_vary = true};
constexpr flow::Shape kTcpShape{
    .addresses_vary = true, .enumerated = true, .connected = true, .tcp = true};
constexpr std::uint32_t kTag = frame::tag_of(1);
constexpr std::uint16_t kFrameSizeBytes = 160;  // room for each tunnel and TCP

void check(bool holds) {
  if (!holds) std::abort();
}

// TCP frames are the responder's data, so that nothing is learned from them. The responder's
// destinations are learned too, so its frames are made as those of an initiator.
spec::Traffic to_depart(spec::Traffic traffic) {
  if (traffic.connections) traffic.connections->role = spec::Role::kInitiate;
  return traffic;
}

frame::TcpNumbers numbers_of(const spec::Traffic& traffic) {
  return traffic.connections ? frame::TcpNumbers(*traffic.connections, 42) : frame::TcpNumbers();
}

struct Case {
  explicit Case(const spec::Traffic& traffic, const frame::Link& link = {})
      : flow(traffic, 3),
        departure(to_depart(traffic), link, numbers_of(traffic)),
        arrival(traffic, link, numbers_of(traffic)),
        quotation(traffic, kTag),
        layouts({&traffic}, link.vlans.size()),
        layout(frame::layout_of(traffic.arrival, link.vlans.size())) {}
  flow::Flow flow;
  frame::Departure departure;
  frame::Arrival arrival;
  frame::Quotation quotation;
  frame::Layouts layouts;
  const frame::Layout& layout;

  // Calls `act` with the shape of the traffic.
  template <class Act>
  auto with_shape(const Act& act) const {
    return layout.tcp() ? act.template operator()<kTcpShape>()
                        : act.template operator()<kUdpShape>();
  }
  template <std::size_t kCount>
  [[nodiscard]] flow::ValueLot values(const std::array<std::uint64_t, kCount>& ordinals) const {
    flow::ValueLot lot;
    with_shape([&]<flow::Shape kShape>() { flow.fill<kShape>(ordinals.data(), kCount, lot); });
    return lot;
  }
  [[nodiscard]] std::vector<std::uint8_t> right_frame(std::uint64_t number) const {
    auto octets = departure.octets();
    frame::StampLot stamps;
    const std::uint32_t lateness = 0;
    stamps.fill(kTag, frame::StreamId(0), &number, &lateness, 1);
    stamps.set_connections(&number, 1);
    auto* start = octets.data();
    const auto lot = values(std::array{number});
    with_shape([&]<flow::Shape kShape>() { departure.patch<kShape>(&start, 1, lot, stamps); });
    return octets;
  }
};

using spec::IpVersion;

template <class Change>
spec::Traffic changed(spec::Traffic traffic, const Change& change) {
  for (auto* format : {&traffic.departure, &traffic.arrival}) change(*format);
  return traffic;
}

spec::Traffic extended() {
  using enum spec::ExtensionHeader;
  return changed(tests::varied_traffic(IpVersion::k6, IpVersion::k6), [](auto& format) {
    format.extension_headers = {kHopByHop, kRouting, kDestinationOptions};
    format.frame_size_bytes = kFrameSizeBytes;
  });
}

spec::Traffic tcp(const spec::Traffic& traffic) {
  auto made = changed(traffic, [](auto& format) { format.transport = spec::Transport::kTcp; });
  made.connections = spec::Connections{.role = spec::Role::kRespond,
                                       .order = spec::Order::kLinear,
                                       .segment = spec::TcpSegment::kAck};
  return made;
}

spec::Traffic tunnelled(const spec::Encapsulation& encapsulation, IpVersion outer,
                        IpVersion inside) {
  const bool four = outer == IpVersion::k4;
  spec::Tunnel tunnel{.encapsulation = &encapsulation,
                      .ip_version = outer,
                      .source = tests::address(four ? "192.0.2.2" : "2001:2::2"),
                      .destination = tests::address(four ? "203.0.113.2" : "2001:2:0:1000::2")};
  tunnel.source.field = spec::field_at(four ? 2 : 14);
  return changed(tests::varied_traffic(inside, inside), [&](auto& format) {
    format.tunnel = tunnel;
    format.frame_size_bytes = kFrameSizeBytes;
  });
}

// Returns traffic of subscribers who share IPv4 addresses: the parts of a field are in several
// places, and the ports are those of its port set.
spec::Traffic subscribed(IpVersion version) {
  auto made =
      changed(tests::sized(tests::traffic(version, version), kFrameSizeBytes), [](auto& format) {
        const std::uint8_t end = format.ip_version == IpVersion::k4 ? 32 : 128;
        format.source.field = {{.value_bit = 0, .bits = 7, .address_bit = 9},
                               {.value_bit = 7, .bits = 10, .address_bit = 22}};
        format.destination.field = {
            {.value_bit = 3, .bits = 13, .address_bit = 1},
            {.value_bit = 0, .bits = 3, .address_bit = 14},
            {.value_bit = 16, .bits = 1, .address_bit = static_cast<std::uint8_t>(end - 1)}};
      });
  for (auto* field : {&made.source_field, &made.destination_field}) {
    *field = {spec::SeriesMode::kPseudorandom, 0, (1U << 17U) - 1};
  }
  made.source_port = {spec::SeriesMode::kPseudorandom, 0, 503};
  made.source_port_set = spec::PortSet{.offset_bits = 6, .psid_bits = 7};
  made.destination_port = {spec::SeriesMode::kPseudorandom, 1, 511};
  made.destination_port_set = spec::PortSet{.offset_bits = 0, .psid_bits = 7};
  return made;
}

std::vector<Case> all_cases() {
  const frame::Link tagged{.vlans = {{.tpid = 0x88a8, .id = 100}, {.tpid = 0x8100, .id = 7}}};
  std::vector<Case> all;
  const auto add = [&](const spec::Traffic& traffic) { all.emplace_back(traffic); };
  for (const auto version : {IpVersion::k4, IpVersion::k6}) {
    const auto sized = [](const auto& traffic) { return tests::sized(traffic, kFrameSizeBytes); };
    add(sized(tests::traffic(version, version)));
    add(sized(tests::varied_traffic(version, version)));
    add(tcp(sized(tests::varied_traffic(version, version))));
  }
  add(extended());
  all.emplace_back(extended(), tagged);
  for (const auto& encapsulation : spec::encapsulations()) {
    for (const auto outer : {IpVersion::k4, IpVersion::k6}) {
      for (const auto inside : {IpVersion::k4, IpVersion::k6}) {
        const auto traffic = tunnelled(encapsulation, outer, inside);
        add(traffic);
        add(tcp(traffic));
        all.emplace_back(traffic, tagged);
      }
    }
  }
  // The corpus names cases by their places, so new ones come last.
  add(tcp(extended()));
  all.emplace_back(tcp(extended()), tagged);
  for (const auto version : {IpVersion::k4, IpVersion::k6}) {
    const auto plain = tests::sized(tests::varied_traffic(version, version), kFrameSizeBytes);
    const auto softwire = tunnelled(spec::encapsulations().front(), IpVersion::k6, version);
    all.emplace_back(tcp(plain), tagged);
    all.emplace_back(tcp(softwire), tagged);
    add(subscribed(version));
    all.emplace_back(subscribed(version), tagged);
  }
  return all;
}

const std::vector<Case>& cases() {
  static const auto all = all_cases();
  return all;
}

void repair_ipv4(std::vector<std::uint8_t>& frame, std::size_t ip) {
  frame::store(frame.data() + ip + frame::kChecksumInIpv4, std::uint16_t{0});
  const auto sum = frame::sum_words(frame.data() + ip, spec::ip_octets(IpVersion::k4));
  frame::store(frame.data() + ip + frame::kChecksumInIpv4,
               static_cast<std::uint16_t>(~frame::fold(sum)));
}

// Corrects the checksums of the frame, so that the checks after them are reached too.
void repair(std::vector<std::uint8_t>& frame, const frame::Layout& layout) {
  if (layout.link_version == IpVersion::k4) repair_ipv4(frame, layout.first);
  if (layout.ipv4()) repair_ipv4(frame, layout.ip);
  auto* checksum = frame.data() + layout.checksum();
  frame::store(checksum, std::uint16_t{0});
  const auto sum = frame::sum_words(frame.data() + layout.source, 2U * layout.address_octets) +
                   frame::sum_words(frame.data() + layout.upper, frame.size() - layout.upper) +
                   frame::swap16(static_cast<std::uint16_t>(frame.size() - layout.upper)) +
                   frame::swap16(layout.protocol());
  const auto folded = frame::fold(sum);
  frame::store(checksum,
               layout.tcp() ? static_cast<std::uint16_t>(~folded) : frame::udp_checksum(folded));
}

// Returns the frame of an input, in heap memory of exactly its size, so that ASan sees a read
// beyond it. Bits of `choice`: 2 changes a correct frame, 3-5 are its number, 7 corrects its
// checksums; see meet_quotation() for 0 and 6.
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
  const auto values = traffic.values(std::array{kNeighbour, claimed.stamp.number(), kNeighbour});
  return traffic.with_shape([&]<flow::Shape kShape>() {
    return traffic.arrival.judge<kShape>(lot, values, tests::kUsualHopLimits).right;
  });
}

void judge(const Case& traffic, const frame::Claimed& claimed) {
  const bool one_by_one =
      frame::defect_of_form(claimed, traffic.arrival.may_lack_checksum()) == frame::Defect::kNone &&
      traffic.arrival.check(claimed, traffic.values(std::array{claimed.stamp.number()}).at(0),
                            tests::kUsualHopLimits) == frame::Defect::kNone;
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

// Puts the packet of a frame into a tunnel.
std::vector<std::uint8_t> in_tunnel(const std::vector<std::uint8_t>& frame,
                                    const spec::TunnelHeader& tunnel, bool ipv6) {
  std::vector<std::uint8_t> outer(ipv6 ? 54 : 34);
  outer[12] = ipv6 ? 0x86 : 0x08;
  outer[13] = ipv6 ? 0xdd : 0;
  const auto length = tunnel.octets.size() + frame.size() - 14 + (ipv6 ? 0 : 20);
  outer[ipv6 ? 18 : 16] = static_cast<std::uint8_t>(length >> 8U);
  outer[ipv6 ? 19 : 17] = static_cast<std::uint8_t>(length);
  outer[14] = ipv6 ? 0x60 : 0x45;
  outer[ipv6 ? 20 : 23] = tunnel.protocol;
  outer.insert(outer.end(), tunnel.octets.begin(), tunnel.octets.end());
  outer.insert(outer.end(), frame.begin() + 14, frame.end());
  return outer;
}

// Uses the octets as the quotation of an ICMP error with correct headers. Bits of `choice`: 0 makes
// it one of ICMPv6, 6 puts it into the tunnel that `which` names.
void meet_quotation(const Case& traffic, std::span<const std::uint8_t> octets, std::uint8_t choice,
                    std::uint8_t which) {
  const bool ipv6 = (choice & 1U) != 0;
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
  if ((choice & 0x40U) != 0) {
    const auto& all = spec::encapsulations();
    const auto& tunnel = all[which / 2 % all.size()].before(ipv6 ? IpVersion::k6 : IpVersion::k4);
    frame = in_tunnel(frame, tunnel, (which & 1U) != 0);
  }
  meet_icmp_error(traffic, frame);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto choice = data[0];
  const auto& traffic = cases()[data[1] % cases().size()];
  const auto octets = frame_of(traffic, choice, {data + 2, size - 2});
  const auto octets_count = static_cast<std::uint32_t>(octets.size());
  const auto claimed = traffic.layouts.claim(octets.data(), octets_count, kTag);
  if (claimed.layout != nullptr) judge(traffic, claimed);
  if (frame::concerns_neighbours(octets.data(), octets_count)) meet_neighbour(octets);
  meet_icmp_error(traffic, octets);
  const auto quoted = std::span(octets).subspan(std::min<std::size_t>(14, octets.size()));
  meet_quotation(traffic, quoted, choice, data[1]);
  return 0;
}
