#include "run/trial_connections.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
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

// A count of each host, or of each address.
class Tally {
 public:
  void add(std::uint64_t count) {
    ++times_[count];
    ++total_;
  }
  [[nodiscard]] spec::CountSummary summary() const {
    if (total_ == 0) return {};
    return {.min = times_.begin()->first,
            .median = static_cast<double>(at(total_ / 2) + at((total_ - 1) / 2)) / 2,
            .p99 = at((total_ * 99 + 99) / 100 - 1),
            .max = times_.rbegin()->first};
  }

 private:
  // Returns the count that has this many before it when all are in order.
  [[nodiscard]] std::uint64_t at(std::uint64_t before) const {
    for (const auto& [count, times] : times_) {
      if (before < times) return count;
      before -= times;
    }
    return times_.rbegin()->first;
  }

  // How often each count was found. Different counts are few: n connections have less than
  // sqrt(2 n) of them.
  std::map<std::uint64_t, std::uint64_t> times_;
  std::uint64_t total_ = 0;
};

std::uint64_t length(const auto& first, const auto& end) {
  return static_cast<std::uint64_t>(end - first);
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

bool same_address(const Mapping& one, const Mapping& other) {
  return one.address == other.address;
}

bool same_endpoint(const Mapping& one, const Mapping& other) {
  return same_address(one, other) && one.port == other.port;
}

bool same_host(const Mapping& one, const Mapping& other) {
  return one.host == other.host;
}

// all: sorted by endpoint.
void sum_up_addresses(const std::vector<Mapping>& all, spec::Mappings& mappings) {
  Tally ports_of;
  Tally connections_of;
  for_each_run(all, same_address, [&](auto first, auto end) {
    const auto ports = runs(first, end, same_endpoint);
    mappings.ports += ports;
    ++mappings.addresses;
    ports_of.add(ports);
    connections_of.add(length(first, end));
  });
  mappings.ports_per_address = ports_of.summary();
  mappings.connections_per_address = connections_of.summary();
}

// all: sorted by host. block_bits: those of the blocks to be counted.
void sum_up_hosts(const std::vector<Mapping>& all, unsigned block_bits, spec::Mappings& mappings) {
  const auto same_block = [block_bits](const Mapping& one, const Mapping& other) {
    return same_address(one, other) && one.port >> block_bits == other.port >> block_bits;
  };
  Tally ports_of;
  Tally connections_of;
  Tally addresses_of;
  Tally blocks_of;
  std::unordered_map<std::uint32_t, std::uint64_t> hosts_of;
  for_each_run(all, same_host, [&](auto first, auto end) {
    ++mappings.hosts;
    ports_of.add(runs(first, end, same_endpoint));
    connections_of.add(length(first, end));
    addresses_of.add(runs(first, end, same_address));
    blocks_of.add(runs(first, end, same_block));
    for (auto at = first; at != end; ++at) {
      if (at == first || !same_address(*at, *(at - 1))) ++hosts_of[at->address];
    }
  });
  mappings.ports_per_host = ports_of.summary();
  mappings.connections_per_host = connections_of.summary();
  mappings.addresses_per_host = addresses_of.summary();
  mappings.blocks_per_host = blocks_of.summary();
  Tally of_address;
  for (const auto& [address, hosts] : hosts_of) of_address.add(hosts);
  mappings.hosts_per_address = of_address.summary();
}

}  // namespace

spec::Mappings mappings_of(const StateTable& table, std::uint64_t stored, const flow::Flow& flow) {
  auto all = stored_in(table, stored, flow);
  spec::Mappings mappings;
  std::ranges::sort(all, by_endpoint);
  const auto bits = block_bits(all);
  mappings.block_ports = bits < 0 ? 0 : 1U << static_cast<unsigned>(bits);
  sum_up_addresses(all, mappings);
  std::ranges::sort(all, by_host);
  sum_up_hosts(all, static_cast<unsigned>(std::max(bits, 0)), mappings);
  return mappings;
}

}  // namespace natxy::run
