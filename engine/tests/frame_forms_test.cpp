// Frames with VLAN tags, extension headers and tunnels, which move the parts of a frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "patched_frame.hpp"
#include "traffic_cases.hpp"

namespace natxy::frame {
namespace {

using spec::IpVersion;

struct Form {
  std::string name;
  spec::Traffic traffic;
  std::vector<spec::VlanTag> vlans;
  friend void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }
};

// Returns frames in a tunnel, both at departure and at arrival, with room for all headers.
spec::Traffic tunnelled(const spec::Encapsulation& encapsulation, IpVersion outer,
                        IpVersion inside) {
  const bool four = outer == IpVersion::k4;
  spec::Tunnel tunnel{.encapsulation = &encapsulation,
                      .ip_version = outer,
                      .source = tests::address(four ? "192.0.2.2" : "2001:2::2"),
                      .destination = tests::address(four ? "203.0.113.2" : "2001:2:0:1000::2")};
  tunnel.source.field = spec::field_at(four ? 2 : 14);
  tunnel.destination.network_byte = four ? 1 : 7;
  auto traffic = tests::varied_traffic(inside, inside);
  for (auto* format : {&traffic.departure, &traffic.arrival}) {
    format->tunnel = tunnel;
    format->frame_size_bytes = 253;
  }
  return traffic;
}

// Returns each encapsulation with each IP version outside and inside.
std::vector<Form> tunnels() {
  std::vector<Form> forms;
  for (const auto& encapsulation : spec::encapsulations()) {
    for (const auto outer : {IpVersion::k4, IpVersion::k6}) {
      for (const auto inside : {IpVersion::k4, IpVersion::k6}) {
        const auto digit = [](IpVersion version) { return version == IpVersion::k4 ? "4" : "6"; };
        const auto name = encapsulation.name + "_" + digit(inside) + "_in_" + digit(outer);
        forms.push_back({name, tunnelled(encapsulation, outer, inside), {}});
      }
    }
  }
  return forms;
}

std::vector<Form> all_forms() {
  using enum spec::ExtensionHeader;
  const std::vector<spec::VlanTag> one{{.tpid = 0x8100, .id = 100, .priority = 5}};
  const std::vector<spec::VlanTag> two{{.tpid = 0x88a8, .id = 4094}, {.tpid = 0x8100, .id = 1}};
  auto extended = tests::varied_traffic(IpVersion::k6, IpVersion::k6);
  for (auto* format : {&extended.departure, &extended.arrival}) {
    format->extension_headers = {kHopByHop, kDestinationOptions, kRouting};
    format->frame_size_bytes = 128;
  }
  const auto octets = [](const auto& each) { return each.before(IpVersion::k6).octets.size(); };
  const auto& most = *std::ranges::max_element(spec::encapsulations(), {}, octets);
  auto longest = tunnelled(most, IpVersion::k6, IpVersion::k6);
  for (auto* format : {&longest.departure, &longest.arrival}) {
    format->extension_headers.assign(spec::kMaxExtensionHeaders, kRouting);
  }
  std::vector<Form> forms{
      {"tagged", tests::varied_traffic(IpVersion::k4, IpVersion::k4), one},
      {"extended", extended, {}},
      {"tagged_and_extended", extended, two},
      {"tagged_and_tunnelled", tunnelled(most, IpVersion::k6, IpVersion::k4), two},
      {"longest", longest, two}};
  std::ranges::move(tunnels(), std::back_inserter(forms));
  return forms;
}

class Forms : public testing::TestWithParam<Form> {
 protected:
  static constexpr flow::Shape kShape{.addresses_vary = true};
  // The frame of ordinal 7.
  Forms() {
    const flow::Flow flow(GetParam().traffic, 3);
    values_ = flow.at<kShape>(7);
    const Departure departure(GetParam().traffic, link_);
    octets_ = departure.octets();
    patch<kShape>(departure, flow, octets_, 7);
  }
  [[nodiscard]] Claimed claimed() const {
    return layouts_.claim(octets_.data(), static_cast<std::uint32_t>(octets_.size()), tag_of(1));
  }
  Link link_{.vlans = GetParam().vlans};
  Layouts layouts_{{&GetParam().traffic}, GetParam().vlans.size()};
  Arrival arrival_{GetParam().traffic, link_};
  flow::Values values_{};
  std::vector<std::uint8_t> octets_;
};

// The fast check of a lot and the single checks agree, whichever octet is wrong.
TEST_P(Forms, PassAndBothChecksAgreeOnEveryOctet) {
  EXPECT_EQ(octets_.size(),
            GetParam().traffic.departure.frame_size_bytes - 4U + 4U * GetParam().vlans.size());
  ASSERT_NE(claimed().layout, nullptr);
  EXPECT_EQ(arrival_.check(claimed(), values_, tests::kUsualHopLimits), Defect::kNone);
  for (std::size_t at = 12; at < octets_.size(); ++at) {
    for (const unsigned flip : {0x00U, 0x01U, 0x10U, 0x40U, 0xffU}) {
      octets_[at] = static_cast<std::uint8_t>(octets_[at] ^ flip);
      const auto seen = claimed();
      if (seen.layout != nullptr) {
        const bool slow = defect_of_form(seen, true) == Defect::kNone &&
                          arrival_.check(seen, values_, tests::kUsualHopLimits) == Defect::kNone;
        EXPECT_TRUE(slow || flip != 0) << at;
        ArrivalLot lot;
        lot.add(seen);
        flow::ValueLot values;
        values.set(0, values_);
        const auto judgement = arrival_.judge<kShape>(lot, values, tests::kUsualHopLimits);
        EXPECT_EQ(judgement.right, slow ? 1U : 0U) << at << ", " << flip;
      }
      octets_[at] = static_cast<std::uint8_t>(octets_[at] ^ flip);
    }
  }
}

TEST_P(Forms, AnotherOuterHopLimitIsOfTheTunnel) {
  if (!claimed().layout->tunnelled()) return;
  constexpr auto kLess = static_cast<std::uint8_t>(spec::kUsualHopLimit - 1);
  EXPECT_EQ(arrival_.check(claimed(), values_, {.inner = spec::kUsualHopLimit, .outer = kLess}),
            Defect::kTunnel);
  EXPECT_EQ(arrival_.check(claimed(), values_, {.inner = kLess, .outer = spec::kUsualHopLimit}),
            Defect::kHopLimit);
}

// A Fragment Header moves what is behind it. The frame is found nevertheless, and is wrong. In IPv6
// in IPv6, it is taken for one of the inner header.
TEST_P(Forms, AFragmentIsOfTheTunnelOrMalformed) {
  const auto& layout = *claimed().layout;
  const bool outer = layout.tunnelled() && layout.link_version == IpVersion::k6;
  if (!outer && layout.ipv4()) return;
  const std::size_t ip = outer ? layout.first : layout.ip;
  const std::array<std::uint8_t, 8> header{octets_[ip + 6], 0, 0, 1, 0, 0, 0, 0};
  octets_[ip + 6] = 44;
  const auto length = static_cast<std::uint16_t>(octets_.size() - ip - 40 + header.size());
  store(octets_.data() + ip + 4, swap16(length));
  octets_.insert(octets_.begin() + static_cast<std::ptrdiff_t>(ip) + 40, header.begin(),
                 header.end());
  const auto seen = claimed();
  ASSERT_NE(seen.layout, nullptr);
  EXPECT_EQ(defect_of_form(seen, true),
            outer && layout.ipv4() ? Defect::kTunnel : Defect::kMalformed);
}

TEST_P(Forms, ShortFramesAreNotReadBeyondTheirEnd) {
  for (std::uint32_t size = 0; size < claimed().layout->min_octets(); ++size) {
    const std::vector<std::uint8_t> cut(octets_.begin(), octets_.begin() + size);
    EXPECT_EQ(layouts_.claim(cut.data(), size, tag_of(1)).layout, nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Forms, testing::ValuesIn(all_forms()),
                         [](const auto& that) { return that.param.name; });

}  // namespace
}  // namespace natxy::frame
