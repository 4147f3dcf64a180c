#include "record_writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "pipe.hpp"

namespace natxy {
namespace {

using tests::Pipe;

constexpr run::TickRate kTicks(2'000'000'000);

template <class Field>
Field field(const std::vector<std::uint8_t>& octets, std::size_t at) {
  Field value;
  std::memcpy(&value, &octets[at], sizeof value);
  return value;
}

std::vector<std::uint8_t> read_all(int descriptor, std::size_t size) {
  std::vector<std::uint8_t> octets(size);
  for (std::size_t got = 0; got < size;) {
    const auto count = read(descriptor, &octets[got], size - got);
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  return octets;
}

TEST(RecordWriter, WritesRecordsAsDocumented) {
  const Pipe pipe;
  RecordWriter writer(pipe.ends[1], kTicks);
  writer.rings().allocate();
  writer.rings()
      .of(spec::Side::kLeft)
      .push({.number = 0x1122334455,
             .departure = 3000,
             .delay = 501,
             .phase = 2,
             .direction = spec::Direction::kReverse,
             .kind = spec::Kind::kBackground,
             .status = run::FrameStatus::kLate,
             .nonce = 0xa1b2c3d4});
  const std::atomic<bool> cancelled{false};
  writer.rings().settle(cancelled);
  const auto octets = read_all(pipe.ends[0], 32);
  EXPECT_EQ(field<std::uint64_t>(octets, 0), 0x1122334455U);
  EXPECT_EQ(field<double>(octets, 8), 1500.0);
  EXPECT_EQ(field<double>(octets, 16), 250.5);
  EXPECT_EQ(octets[24], 2);
  EXPECT_EQ(octets[25], 1);
  EXPECT_EQ(octets[26], 1);
  EXPECT_EQ(octets[27], 1);
  EXPECT_EQ(field<std::uint32_t>(octets, 28), 0xa1b2c3d4U);
}

TEST(RecordWriter, LosesNothingWhileItsReaderKeepsUp) {
  const Pipe pipe;
  constexpr std::uint64_t kRecords = 300'000;
  RecordWriter writer(pipe.ends[1], kTicks);
  writer.rings().allocate();
  std::vector<std::uint8_t> octets;
  std::thread reader([&] { octets = read_all(pipe.ends[0], kRecords * 32); });
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    writer.rings().of(spec::Side::kRight).push({.number = i});
  }
  reader.join();
  EXPECT_EQ(writer.rings().of(spec::Side::kRight).take_lost(), 0U);
  for (std::uint64_t i = 0; i < kRecords; i += 997) {
    ASSERT_EQ(field<std::uint64_t>(octets, i * 32), i);
  }
}

TEST(RecordRing, CountsWhatFindsNoRoom) {
  run::RecordRing ring;
  ring.allocate();
  for (std::uint64_t i = 0; i < run::RecordRing::kFrames + 10; ++i) ring.push({.number = i});
  EXPECT_EQ(ring.take_lost(), 10U);
  EXPECT_EQ(ring.take_lost(), 0U);
  std::uint64_t next = 0;
  while (ring.take([&](const run::FrameRecord* records, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(records[i].number, next++);
  }) > 0) {
  }
  EXPECT_EQ(next, run::RecordRing::kFrames);
}

TEST(RecordWriter, WaitsForNobodyOnceItsReaderIsGone) {
  signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  RecordWriter writer(ends[1], kTicks);
  writer.rings().allocate();
  writer.rings().of(spec::Side::kLeft).push({});
  const std::atomic<bool> cancelled{false};
  writer.rings().settle(cancelled);
  while (!writer.rings().abandoned.load()) std::this_thread::yield();
  close(ends[1]);
}

TEST(RecordWriter, KnowsWhatCanBeWrittenTo) {
  const Pipe pipe;
  EXPECT_TRUE(is_writable(pipe.ends[1]));
  EXPECT_FALSE(is_writable(pipe.ends[0]));
  EXPECT_FALSE(is_writable(9999));
}

}  // namespace
}  // namespace natxy
