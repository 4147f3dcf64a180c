#include "run/assignment.hpp"

#include <gtest/gtest.h>

#include <map>

namespace natxy::run {
namespace {

using enum spec::Direction;

std::vector<WorkerTasks> bidirectional(unsigned workers, unsigned queues = 8) {
  return assign({.workers = workers,
                 .directions = {kForward, kReverse},
                 .transmit_queues = {queues, queues}});
}

using Tasks = std::vector<std::string>;

TEST(Assignment, OneWorkerDoesAll) {
  const auto workers = bidirectional(1);
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers[0].describe(), (Tasks{"send forward 1/1", "send reverse 1/1", "receive left",
                                          "receive right", "neighbours left", "neighbours right"}));
}

TEST(Assignment, TwoWorkersHaveADirectionEach) {
  const auto workers = bidirectional(2);
  EXPECT_EQ(workers[0].describe(), (Tasks{"send forward 1/1", "receive right", "neighbours left"}));
  EXPECT_EQ(workers[1].describe(), (Tasks{"send reverse 1/1", "receive left", "neighbours right"}));
}

TEST(Assignment, FourWorkersAreOneTaskEach) {
  const auto workers = bidirectional(4);
  EXPECT_EQ(workers[0].describe(), (Tasks{"send forward 1/1", "neighbours left"}));
  EXPECT_EQ(workers[1].describe(), (Tasks{"send reverse 1/1", "neighbours right"}));
  EXPECT_EQ(workers[2].describe(), (Tasks{"receive right"}));
  EXPECT_EQ(workers[3].describe(), (Tasks{"receive left"}));
}

TEST(Assignment, OneDirectionOnTwoWorkersIsASenderAndAReceiver) {
  const auto workers = assign({.workers = 2, .directions = {kReverse}, .transmit_queues = {1, 1}});
  EXPECT_EQ(workers[0].describe(), (Tasks{"send reverse 1/1", "neighbours right"}));
  EXPECT_EQ(workers[1].describe(), (Tasks{"receive left", "receive right", "neighbours left"}));
}

// For any input, each share of a direction and the receiver of each side is assigned once, and the
// worker that owns a side's transmit queue 0 answers its neighbours.
TEST(Assignment, IsCompleteForAnyNumberOfWorkers) {
  const std::vector<std::vector<spec::Direction>> choices{
      {kForward}, {kReverse}, {kForward, kReverse}};
  for (unsigned workers = 1; workers <= 16; ++workers) {
    for (const auto& directions : choices) {
      for (const unsigned queues : {1U, 2U, 16U}) {
        const auto assigned = assign(
            {.workers = workers, .directions = directions, .transmit_queues = {queues, queues}});
        std::map<spec::Direction, unsigned> senders;
        std::map<spec::Side, int> receivers;
        std::map<spec::Side, int> services;
        for (const auto& worker : assigned) {
          for (const auto& task : worker.senders) {
            ++senders[task.direction];
            ASSERT_LT(task.share.index, task.share.count);
            ASSERT_LE(task.share.count, queues);
          }
          for (const auto side : worker.receivers) ++receivers[side];
          for (const auto side : worker.services) ++services[side];
        }
        ASSERT_EQ(senders.size(), directions.size());
        for (const auto& worker : assigned) {
          for (const auto& task : worker.senders) {
            ASSERT_EQ(senders[task.direction], task.share.count);
          }
        }
        ASSERT_EQ(receivers,
                  (std::map<spec::Side, int>{{spec::Side::kLeft, 1}, {spec::Side::kRight, 1}}));
        ASSERT_EQ(services, receivers);
      }
    }
  }
}

}  // namespace
}  // namespace natxy::run
