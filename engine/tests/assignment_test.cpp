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
          for (const auto& task : worker.receivers) ++receivers[task.side];
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

TEST(Assignment, EachReceiveQueueGetsAWorkerWhileEachDirectionKeepsASender) {
  const auto of = [](unsigned workers, std::vector<spec::Direction> directions, unsigned queues) {
    return assign({.workers = workers,
                   .directions = std::move(directions),
                   .transmit_queues = {8, 8},
                   .receive_queues = queues});
  };
  const auto six = of(6, {kForward, kReverse}, 2);
  EXPECT_EQ(six[0].describe(), (Tasks{"send forward 1/1", "neighbours left"}));
  EXPECT_EQ(six[1].describe(), (Tasks{"send reverse 1/1", "neighbours right"}));
  EXPECT_EQ(six[2].describe(), (Tasks{"receive right 1/2"}));
  EXPECT_EQ(six[3].describe(), (Tasks{"receive right 2/2"}));
  EXPECT_EQ(six[4].describe(), (Tasks{"receive left 1/2"}));
  EXPECT_EQ(six[5].describe(), (Tasks{"receive left 2/2"}));
  const auto one_way = of(3, {kForward}, 2);
  EXPECT_EQ(one_way[0].describe(), (Tasks{"send forward 1/1", "neighbours left"}));
  EXPECT_EQ(one_way[1].describe(),
            (Tasks{"receive left 1/2", "receive right 1/2", "neighbours right"}));
  EXPECT_EQ(one_way[2].describe(), (Tasks{"receive left 2/2", "receive right 2/2"}));
  const auto alone = of(1, {kForward, kReverse}, 2);
  EXPECT_EQ(
      alone[0].describe(),
      (Tasks{"send forward 1/1", "send reverse 1/1", "receive left 1/2", "receive left 2/2",
             "receive right 1/2", "receive right 2/2", "neighbours left", "neighbours right"}));
  const auto many = of(12, {kForward, kReverse}, 2);
  unsigned senders = 0;
  for (const auto& worker : many) senders += static_cast<unsigned>(worker.senders.size());
  EXPECT_EQ(senders, 8U);
}

// For any input, each queue of each port is polled by one worker.
TEST(Assignment, EachReceiveQueueIsPolledOnce) {
  for (unsigned workers = 1; workers <= 16; ++workers) {
    for (const auto& directions :
         std::vector<std::vector<spec::Direction>>{{kForward}, {kReverse}, {kForward, kReverse}}) {
      for (const unsigned queues : {1U, 2U, 3U, 16U}) {
        const auto assigned = assign({.workers = workers,
                                      .directions = directions,
                                      .transmit_queues = {8, 8},
                                      .receive_queues = queues});
        std::map<std::pair<spec::Side, unsigned>, int> polled;
        std::size_t sending = 0;
        for (const auto& worker : assigned) {
          sending += worker.senders.size();
          for (const auto& [side, share] : worker.receivers) {
            ASSERT_EQ(share.count, queues);
            ++polled[{side, share.index}];
          }
        }
        ASSERT_EQ(polled.size(), std::size_t{2} * queues);
        for (const auto& [queue, times] : polled) ASSERT_EQ(times, 1);
        ASSERT_GE(sending, directions.size());
      }
    }
  }
}

}  // namespace
}  // namespace natxy::run
