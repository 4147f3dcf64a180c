#include "run/mappings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace natxy::run {
namespace {

constexpr int kPortBits = 16;

struct Mapping {
  std::uint32_t address;  // external, as in the table
  std::uint32_t host;     // inside: the value of its address field
  std::uint16_t port;     // external
};

bool by_endpoint(const Mapping& one, const Mapping& other) {
  return std::tie(one.address, one.port, one.host) <
         std::tie(other.address, other.port, other.host);
}

bool by_host(const Mapping& one, const Mapping& other) {
  return std::tie(one.host, one.address, one.port) <
         std::tie(other.host, other.address, other.port);
}

std::vector<Mapping> stored_in(const StateTable& table, std::uint64_t stored,
                               const flow::Flow& flow) {
  std::vector<Mapping> all;
  all.reserve(stored);
  std::array<std::uint64_t, flow::kMaxLot> numbers;
  flow::ValueLot values;
  for (std::uint64_t first = 0; first < table.entries(); first += numbers.size()) {
    const auto n = static_cast<unsigned>(std::min(table.entries() - first, numbers.size()));
    for (unsigned i = 0; i < n; ++i) numbers[i] = first + i;
    flow.fill<flow::Shape{.addresses_vary = true, .enumerated = true}>(numbers.data(), n, values);
    for (unsigned i = 0; i < n; ++i) {
      const auto entry = table.at(numbers[i]);
      if (!entry.stored()) continue;
      all.push_back(
          {.address = entry.address(), .host = values.source_field[i], .port = entry.port()});
    }
  }
  return all;
}

void count(spec::Range& range, std::uint64_t of_one) {
  range.min = range.max == 0 ? of_one : std::min(range.min, of_one);
  range.max = std::max(range.max, of_one);
}

// Calls use(first, end) for each run of neighbours that `same` holds together.
template <class Same, class Use>
void for_each_run(const std::vector<Mapping>& all, const Same& same, const Use& use) {
  for (auto first = all.begin(); first != all.end();) {
    const auto end =
        std::find_if(first, all.end(), [&](const Mapping& m) { return !same(*first, m); });
    use(first, end);
    first = end;
  }
}

// Returns how many runs there are from first to end.
template <class Iterator, class Same>
std::uint64_t runs(Iterator first, Iterator end, const Same& same) {
  if (first == end) return 0;
  std::uint64_t n = 1;
  for (auto next = first + 1; next != end; ++next) n += same(*(next - 1), *next) ? 0 : 1;
  return n;
}

// Returns the bits of the largest blocks of ports, each aligned to its size, of which none has the
// ports of two hosts; -1 if two hosts have the same port of an address. all: sorted by endpoint.
//
// Neighbours suffice: the ports between two of one block are in this block as well.
int block_bits(const std::vector<Mapping>& all) {
  int bits = kPortBits;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& one = all[i - 1];
    const auto& other = all[i];
    if (one.address != other.address || one.host == other.host) continue;
    const auto differing = static_cast<unsigned>(one.port ^ other.port);
    bits = std::min(bits, static_cast<int>(std::bit_width(differing)) - 1);
  }
  return bits;
}

}  // namespace

spec::Mappings mappings_of(const StateTable& table, std::uint64_t stored, const flow::Flow& flow) {
  auto all = stored_in(table, stored, flow);
  spec::Mappings found;
  const auto same_address = [](const Mapping& a, const Mapping& b) {
    return a.address == b.address;
  };
  const auto same_endpoint = [](const Mapping& a, const Mapping& b) {
    return a.address == b.address && a.port == b.port;
  };
  std::ranges::sort(all, by_endpoint);
  const auto bits = block_bits(all);
  for_each_run(all, same_address, [&](auto first, auto end) {
    const auto ports = runs(first, end, same_endpoint);
    found.ports += ports;
    ++found.addresses;
    count(found.ports_per_address, ports);
  });
  std::ranges::sort(all, by_host);
  std::unordered_map<std::uint32_t, std::uint64_t> hosts_of;
  const auto same_host = [](const Mapping& a, const Mapping& b) { return a.host == b.host; };
  const auto same_block = [bits](const Mapping& a, const Mapping& b) {
    return a.address == b.address && a.port >> std::max(bits, 0) == b.port >> std::max(bits, 0);
  };
  for_each_run(all, same_host, [&](auto first, auto end) {
    ++found.hosts;
    count(found.ports_per_host, runs(first, end, same_endpoint));
    count(found.addresses_per_host, runs(first, end, same_address));
    count(found.blocks_per_host, runs(first, end, same_block));
    for (auto at = first; at != end; ++at) {
      if (at == first || at->address != (at - 1)->address) ++hosts_of[at->address];
    }
  });
  for (const auto& [address, hosts] : hosts_of) count(found.hosts_per_address, hosts);
  found.block_ports = bits < 0 ? 0 : 1U << static_cast<unsigned>(bits);
  return found;
}

}  // namespace natxy::run
