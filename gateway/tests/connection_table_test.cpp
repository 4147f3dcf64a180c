#include "gateway/nat/connection_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <random>

namespace natxy::gateway::test {
namespace {

constexpr EntryNumber kEntries = 257;

Connection connection(std::uint32_t number) {
  return {.inside = {.address = 0xc6120002U + number % 3,
                     .port = static_cast<std::uint16_t>(1024 + number)},
          .remote = {.address = 0xc6130002, .port = static_cast<std::uint16_t>(number % 7)},
          .external = {.address = 0xc6130001, .port = static_cast<std::uint16_t>(2000 + number)}};
}

TEST(ConnectionTable, HoldsExactlyAsManyAsItIsMadeFor) {
  ConnectionTable table(kEntries);
  for (EntryNumber i = 0; i < kEntries; ++i) {
    EXPECT_FALSE(table.is_full());
    (void)table.add(connection(i), i);
  }
  EXPECT_TRUE(table.is_full());
  EXPECT_EQ(table.size(), kEntries);
}

TEST(ConnectionTable, OfTwoWithOneExternalFourTupleTheNewerIsFound) {
  ConnectionTable table(2);
  auto other = connection(7);
  other.external = connection(0).external;
  other.remote = connection(0).remote;
  const auto first = table.add(connection(0), 0);
  const auto second = table.add(other, 0);
  EXPECT_EQ(table.find(other.external, other.remote), second);
  table.remove(second);
  EXPECT_EQ(table.find(other.external, other.remote), first);
  EXPECT_EQ(table.ordinal(second), 0U);
}

TEST(ConnectionTable, AChangedExternalEndpointIsFoundAndTheOldOneIsNot) {
  ConnectionTable table(4);
  const auto entry = table.add(connection(1), 0);
  table.change_external(entry, connection(2).external);
  EXPECT_EQ(table.find(connection(1).external, connection(1).remote), kNoEntry);
  EXPECT_EQ(table.find(connection(2).external, connection(1).remote), entry);
  EXPECT_EQ(table.find(connection(1).inside, connection(1).remote), entry);
}

// Compares the table with a map and a list that do the same.
TEST(ConnectionTable, IsAMapInOrderOfUse) {
  ConnectionTable table(kEntries);
  std::map<std::uint32_t, EntryNumber> entries;
  std::list<std::uint32_t> order;  // oldest first
  std::mt19937 chance(1);          // NOLINT(*-msc51-cpp): the same each time
  for (Nanoseconds now_ns = 0; now_ns < 20'000; ++now_ns) {
    const auto number = static_cast<std::uint32_t>(chance() % 400);
    const auto known = entries.find(number);
    if (known == entries.end()) {
      if (table.is_full()) {
        ASSERT_EQ(table.oldest(), entries.at(order.front()));
        table.remove(table.oldest());
        entries.erase(order.front());
        order.pop_front();
      }
      entries[number] = table.add(connection(number), now_ns);
    } else if (chance() % 3 == 0) {
      table.remove(known->second);
      entries.erase(known);
      order.remove(number);
      continue;
    } else {
      table.use(known->second, now_ns);
      order.remove(number);
    }
    order.push_back(number);
    ASSERT_EQ(table.size(), entries.size());
  }
  for (std::uint32_t number = 0; number < 400; ++number) {
    const auto wanted = entries.contains(number) ? entries.at(number) : kNoEntry;
    const auto it = connection(number);
    EXPECT_EQ(table.find(it.inside, it.remote), wanted);
    EXPECT_EQ(table.find(it.external, it.remote), wanted);
  }
}

}  // namespace
}  // namespace natxy::gateway::test
