// Tests the state table and the walks over it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "run/connection_walk.hpp"
#include "run/state_table.hpp"

namespace natxy::run {
namespace {

using spec::Order;

class Table {
 public:
  explicit Table(std::uint64_t entries) : words_(entries, 0), table_(words_.data(), entries, 1) {}
  StateTable& operator*() { return table_; }
  StateTable* operator->() { return &table_; }
  void store(std::uint64_t connection) { table_.learn(connection, Entry(7, 8)); }

 private:
  std::vector<std::uint64_t> words_;
  StateTable table_;
};

std::vector<std::uint64_t> taken(ConnectionWalk walk, std::size_t frames, unsigned burst = 7) {
  std::vector<std::uint64_t> all;
  std::array<std::uint64_t, flow::kMaxLot> lot;
  while (all.size() < frames) {
    const auto n = std::min<std::size_t>(burst, frames - all.size());
    walk.take(lot.data(), static_cast<unsigned>(n));
    all.insert(all.end(), lot.begin(), lot.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return all;
}

std::vector<std::uint64_t> counting(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> numbers(end - first);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// --- walks ---------------------------------------------------------------------------------------

class Sizes : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Sizes, EveryOrderUsesEachConnectionOnceAPass) {
  const auto n = GetParam();
  Table table(n);
  for (std::uint64_t i = 0; i < n; ++i) table.store(i);
  for (const auto order :
       {Order::kLinear, Order::kIncreasing, Order::kDecreasing, Order::kPseudorandom}) {
    for (const bool whole : {false, true}) {
      const WalkPlan plan{
          .table = &*table, .order = order, .connections = n, .whole = whole, .key = 99};
      auto all = taken(ConnectionWalk(plan, 0, 1), 3 * n);
      for (auto pass = all.begin(); pass != all.end(); pass += static_cast<std::ptrdiff_t>(n)) {
        std::vector<std::uint64_t> sorted(pass, pass + static_cast<std::ptrdiff_t>(n));
        std::ranges::sort(sorted);
        ASSERT_EQ(sorted, counting(0, n)) << "order " << static_cast<int>(order);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Sizes, testing::Values(1, 2, 3, 5, 64, 97, 1000, 1024, 10'007));

TEST(Walk, IncreasesAndDecreases) {
  Table table(5);
  for (std::uint64_t i = 0; i < 5; ++i) table.store(i);
  WalkPlan plan{.table = &*table, .order = Order::kIncreasing, .connections = 5};
  EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 7),
            (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 0, 1}));
  plan.order = Order::kDecreasing;
  EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 7),
            (std::vector<std::uint64_t>{4, 3, 2, 1, 0, 4, 3}));
}

TEST(Walk, FixedIsTheFirstThatExists) {
  Table table(100);
  table.store(42);
  table.store(43);
  const WalkPlan plan{.table = &*table, .order = Order::kFixed, .connections = 100};
  EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 40), std::vector<std::uint64_t>(40, 42));
}

TEST(Walk, UsesWhatHasAnsweredIfItMust) {
  Table table(10);
  for (std::uint64_t i = 0; i < 8; ++i) table.store(i);
  for (const std::uint64_t i : {1, 5, 6}) table->mark_answered(i);
  for (const auto order : {Order::kLinear, Order::kIncreasing}) {
    const WalkPlan plan{.table = &*table, .order = order, .answered = true, .connections = 10};
    EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 3), (std::vector<std::uint64_t>{1, 5, 6}));
  }
  const WalkPlan fixed{
      .table = &*table, .order = Order::kFixed, .answered = true, .connections = 10};
  EXPECT_EQ(taken(ConnectionWalk(fixed, 0, 1), 2), (std::vector<std::uint64_t>{1, 1}));
}

TEST(Walk, PseudorandomIsNoOrderAnybodyWouldSee) {
  constexpr std::uint64_t kConnections = 10'000;
  const WalkPlan plan{
      .order = Order::kPseudorandom, .connections = kConnections, .whole = true, .key = 5};
  const auto all = taken(ConnectionWalk(plan, 0, 1), kConnections);
  std::uint64_t neighbours = 0;
  for (std::size_t i = 1; i < all.size(); ++i) neighbours += all[i] == all[i - 1] + 1;
  EXPECT_LT(neighbours, 20U);
}

// With any connections missing, the existing ones are used equally often.
TEST(Walk, SkipsHoles) {
  std::mt19937 random(1);
  for (const double share : {0.001, 0.3, 0.9, 0.999}) {
    constexpr std::uint64_t kConnections = 5000;
    Table table(kConnections);
    std::vector<std::uint64_t> there;
    for (std::uint64_t i = 0; i < kConnections; ++i) {
      if (std::bernoulli_distribution(share)(random)) there.push_back(i);
    }
    for (const auto i : there) table.store(i);
    ASSERT_FALSE(there.empty());
    for (const auto order : {Order::kLinear, Order::kDecreasing, Order::kPseudorandom}) {
      const WalkPlan plan{.table = &*table, .order = order, .connections = kConnections, .key = 3};
      auto all = taken(ConnectionWalk(plan, 0, 1), 2 * there.size(), 32);
      std::vector<std::uint64_t> pass(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(there.size()));
      std::ranges::sort(pass);
      EXPECT_EQ(pass, there);
    }
  }
}

TEST(Walk, MissingAreThoseWithoutAnswer) {
  Table table(10);
  for (std::uint64_t i = 0; i < 9; ++i) table.store(i);
  for (const std::uint64_t i : {0, 1, 2, 4, 5, 7}) EXPECT_TRUE(table->mark_answered(i));
  EXPECT_FALSE(table->mark_answered(7));
  const WalkPlan plan{.table = &*table, .order = Order::kMissing, .connections = 10, .whole = true};
  EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 3), (std::vector<std::uint64_t>{3, 6, 8}));
}

TEST(Walk, MissingOfAnInitiatorAreThoseThatAreNotThere) {
  Table table(10);
  for (const std::uint64_t i : {0, 1, 2, 4, 5, 7}) table.store(i);
  EXPECT_TRUE(table->mark_answered(4));
  const WalkPlan plan{
      .table = &*table, .role = spec::Role::kInitiate, .order = Order::kMissing, .connections = 10};
  EXPECT_EQ(taken(ConnectionWalk(plan, 0, 1), 4), (std::vector<std::uint64_t>{3, 6, 8, 9}));
}

// A connection that was created meanwhile is not created twice.
TEST(Walk, MissingThatCameMeanwhileAreNotTakenAgain) {
  Table table(5);
  const WalkPlan plan{
      .table = &*table, .role = spec::Role::kInitiate, .order = Order::kMissing, .connections = 5};
  ConnectionWalk walk(plan, 0, 1);
  std::array<std::uint64_t, flow::kMaxLot> lot;
  walk.take(lot.data(), 3);
  for (std::uint64_t i = 0; i < 4; ++i) table.store(i);
  walk.keep(2, 1);  // the third frame did not leave, but its connection exists
  walk.take(lot.data(), 1);
  EXPECT_EQ(lot[0], 4U);
}

TEST(Walk, SeveralSendersShareIt) {
  constexpr std::uint64_t kConnections = 100;
  for (const auto order : {Order::kIncreasing, Order::kPseudorandom}) {
    const WalkPlan plan{.order = order, .connections = kConnections, .whole = true, .key = 8};
    std::set<std::uint64_t> all;
    for (unsigned sender = 0; sender < 3; ++sender) {
      for (const auto number : taken(ConnectionWalk(plan, sender, 3), 34)) all.insert(number);
    }
    EXPECT_EQ(all.size(), kConnections);
  }
}

TEST(Walk, ASenderWhoseShareHasOnlyHolesUsesTheOthers) {
  Table table(100);
  for (const std::uint64_t i : {0, 33, 66}) table.store(i + 1);  // all of sender 1 of 3
  for (const auto order : {Order::kIncreasing, Order::kDecreasing, Order::kPseudorandom}) {
    const WalkPlan plan{.table = &*table, .order = order, .connections = 100, .key = 8};
    for (unsigned sender = 0; sender < 3; ++sender) {
      const auto all = taken(ConnectionWalk(plan, sender, 3), 60);
      for (const auto number : all) ASSERT_TRUE(table->at(number).stored()) << number;
    }
    const auto lonely = taken(ConnectionWalk(plan, 2, 3), 60);
    if (order == Order::kIncreasing) {
      EXPECT_EQ(std::ranges::count(lonely, 34), 20) << "each of them in turn";
    }
  }
}

TEST(Walk, GoesBackToWhatDidNotLeave) {
  Table table(100);
  for (std::uint64_t i = 0; i < 100; i += 3) table.store(i);
  const WalkPlan plan{.table = &*table, .order = Order::kIncreasing, .connections = 100};
  ConnectionWalk walk(plan, 0, 1);
  std::array<std::uint64_t, flow::kMaxLot> lot;
  walk.take(lot.data(), 5);
  walk.keep(2, 3);
  walk.take(lot.data(), 2);
  EXPECT_EQ(lot[0], 6U);
  EXPECT_EQ(lot[1], 9U);
  walk.keep(0, 2);
  walk.take(lot.data(), 1);
  EXPECT_EQ(lot[0], 6U);
  walk.keep(1, 0);
  walk.take(lot.data(), 0);
  walk.take(lot.data(), 1);
  EXPECT_EQ(lot[0], 9U);
}

// --- the table -----------------------------------------------------------------------------------

TEST(StateTable, RemembersAndTellsWhatChanged) {
  Table table(3);
  EXPECT_FALSE(table->at(1).stored());
  EXPECT_EQ(table->learn(1, Entry(0x01020304, 5000)), Learned::kNew);
  EXPECT_EQ(table->learn(1, Entry(0x01020304, 5000)), Learned::kKnown);
  EXPECT_TRUE(table->mark_answered(1));
  EXPECT_EQ(table->learn(1, Entry(0x01020304, 5000)), Learned::kKnown);
  EXPECT_EQ(table->learn(1, Entry(0x01020304, 5001)), Learned::kChanged);
  EXPECT_EQ(table->at(1).address(), 0x01020304U);
  EXPECT_EQ(table->at(1).port(), 5001);
  EXPECT_TRUE(table->at(1).answered());
  EXPECT_FALSE(table->at(0).stored() || table->at(2).stored());
}

TEST(StateTable, AnEntryHasEightOctets) {
  EXPECT_EQ(sizeof(Entry), 8U);
}

// A receiver writes while a sender reads. TSan shows whether this is a data race.
TEST(StateTable, IsWrittenAndReadAtOnce) {
  constexpr std::uint64_t kConnections = 100'000;
  Table table(kConnections);
  table->addresses().prepare();
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kConnections; ++i) {
      std::array<std::uint8_t, 16> address{};
      address[3] = static_cast<std::uint8_t>(i % 251);
      const auto number = table->addresses().number_of(address.data());
      table->learn(i, Entry(number, static_cast<std::uint16_t>(i)));
      if (i % 10 == 0) table->learn(i, Entry(number, static_cast<std::uint16_t>(i + 1)));
    }
  });
  std::thread marker([&] {
    for (std::uint64_t i = 0; i < kConnections; ++i) {
      if (table->at(i).stored()) table->mark_answered(i);
    }
  });
  std::uint64_t found = 0;
  while (found < 10 * kConnections) {
    for (std::uint64_t i = 0; i < kConnections; ++i) {
      const auto entry = table->at(i);
      if (!entry.stored()) continue;
      ++found;
      ASSERT_EQ(table->addresses().at(entry.address())[3], i % 251);
    }
  }
  writer.join();
  marker.join();
}

TEST(AddressDictionary, NumbersAddressesInTheirOrderAndIsBounded) {
  AddressDictionary dictionary;
  dictionary.prepare();
  const auto address = [](std::uint32_t number) {
    std::array<std::uint8_t, 16> octets{0x20, 0x01};
    std::memcpy(octets.data() + 9, &number, sizeof number);
    return octets;
  };
  for (std::uint32_t i = 0; i < AddressDictionary::kMax; ++i) {
    ASSERT_EQ(dictionary.number_of(address(i).data()), i);
  }
  EXPECT_EQ(dictionary.number_of(address(77).data()), 77U);
  EXPECT_EQ(dictionary.at(77), address(77));
  EXPECT_EQ(dictionary.number_of(address(AddressDictionary::kMax).data()),
            AddressDictionary::kFull);
}

// Returns the table of the next trial, ready for use.
StateTable ready_table(TableMemory& memory, std::uint64_t entries) {
  auto table = memory.reserve(entries);
  while (!memory.touched()) memory.touch();
  return table;
}

TEST(TableMemory, IsTouchedOnceForAllTrials) {
  TableMemory memory;
  (void)ready_table(memory, 1000);
  EXPECT_GE(memory.page_bytes(), 4096U);
  (void)memory.reserve(500);
  EXPECT_TRUE(memory.touched());
  (void)memory.reserve(1 << 20);
  EXPECT_FALSE(memory.touched());
  memory.touch();
  EXPECT_FALSE(memory.touched()) << "in pieces";
}

// Runs more trials than an entry can distinguish, with large tables in the trials of one number. An
// entry of an earlier trial must never count as the trial's own.
TEST(TableMemory, EachTrialFindsItsTableEmpty) {
  TableMemory memory;
  (void)ready_table(memory, 50);
  for (std::uint64_t trial = 0; trial < 2 * Entry::kTrials + 5; ++trial) {
    const std::uint64_t entries = trial % Entry::kTrials == 0 ? 50 : 3;
    auto table = ready_table(memory, entries);
    for (std::uint64_t i = 0; i < entries; ++i) {
      ASSERT_FALSE(table.at(i).stored()) << "trial " << trial;
      ASSERT_EQ(table.learn(i, Entry(1, 2)), Learned::kNew) << "trial " << trial;
      ASSERT_TRUE(table.mark_answered(i)) << "trial " << trial;
      ASSERT_EQ(table.learn(i, Entry(1, 2)), Learned::kKnown);
    }
  }
}

}  // namespace
}  // namespace natxy::run
