// A struct lists its members once. Their JSON, sums and differences of counters, and the tests that
// name all counters follow from the list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

// Stands in a struct, and lists its members that have the same names in JSON, without inherited
// ones. tests/events_test.cpp compares the names with those of the package's models.
#define NATXY_MEMBERS(...)                                       \
  static constexpr bool kListed = true;                          \
  template <typename Visit>                                      \
  constexpr void each_member(const Visit& visit) {               \
    ::natxy::spec::visit_each(visit, #__VA_ARGS__, __VA_ARGS__); \
  }                                                              \
  template <typename Visit>                                      \
  constexpr void each_member(const Visit& visit) const {         \
    ::natxy::spec::visit_each(visit, #__VA_ARGS__, __VA_ARGS__); \
  }

namespace natxy::spec {

// Calls visit(name, member) for each member. names: separated by commas.
template <typename Visit, typename... Members>
constexpr void visit_each(const Visit& visit, std::string_view names, Members&... members) {
  const auto next = [&names] {
    const auto name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 2, names.size()));  // with the comma and the space
    return name;
  };
  (visit(next(), members), ...);
}

template <typename T>
concept Listed = T::kListed;

// Calls combine(counter, counter of `other`) for each member; all members must be counters.
template <Listed Counters, typename Combine>
void combine_counters(Counters& counters, const Counters& other, const Combine& combine) {
  std::vector<std::uint64_t> values;
  other.each_member([&](auto, const std::uint64_t& value) { values.push_back(value); });
  auto next = values.begin();
  counters.each_member([&](auto, std::uint64_t& counter) { combine(counter, *next++); });
}

template <Listed Counters>
void add(Counters& to, const Counters& more) {
  combine_counters(to, more, [](std::uint64_t& counter, std::uint64_t by) { counter += by; });
}

// Returns by how much the counters have grown since `before`.
template <Listed Counters>
[[nodiscard]] Counters difference(Counters counters, const Counters& before) {
  combine_counters(counters, before,
                   [](std::uint64_t& counter, std::uint64_t by) { counter -= by; });
  return counters;
}

}  // namespace natxy::spec
