// Tests the requests over real pipes, with a fake engine.
#include "requests.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include "pipe.hpp"

namespace natxy {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tests::Pipe;

std::string spec_line() {
  const std::ifstream stream(std::string(NATXY_EXAMPLES) + "/spec/valid/stateless-nat64.json");
  std::ostringstream text;
  text << stream.rdbuf();
  auto spec = text.str();
  std::erase(spec, '\n');
  return spec;
}

class TrialRequestsTest : public testing::Test {
 protected:
  TrialRequestsTest() {
    std::signal(SIGPIPE, SIG_IGN);
    engine_.run = [](const spec::TrialSpec&, const Engine::Poll&, const std::atomic<bool>&) {
      return spec::TrialResult{};
    };
    engine_.idle = [this] { ++idled_; };
    engine_.failed = [this] { ++failed_; };
  }
  ~TrialRequestsTest() override {
    in_.close_writing();
    if (loop_.joinable()) loop_.join();
  }

  void start() {
    loop_ = std::thread([this] {
      plumbing::EventWriter events(out_.ends[1]);
      plumbing::RequestLoop loop(in_.ends[0], signals_.ends[0], events);
      TrialRequests(loop, engine_).serve();
      out_.close_writing();
    });
  }
  void say(const std::string& text) {
    const auto line = text + "\n";
    ASSERT_EQ(write(in_.ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void ask_for_trial(int id) {
    say(R"({"request": "trial", "id": )" + std::to_string(id) + R"(, "spec": )" + spec_line() +
        "}");
  }
  // Returns the next event; empty if the loop is over.
  std::string hear() {
    while (!lines_.next(heard_)) {
      char chunk[4096];
      const auto n = read(out_.ends[0], chunk, sizeof chunk);
      if (n <= 0) return {};
      lines_.text.append(chunk, static_cast<std::size_t>(n));
    }
    return heard_;
  }

  struct Lines {
    std::string text;
    bool next(std::string& line) {
      const auto end = text.find('\n');
      if (end == std::string::npos) return false;
      line = text.substr(0, end);
      text.erase(0, end + 1);
      return true;
    }
  };

  Pipe in_;
  Pipe out_;
  Pipe signals_;  // a write is a signal
  Engine engine_;
  std::atomic<int> idled_{0};
  std::atomic<int> failed_{0};
  std::thread loop_;
  Lines lines_;
  std::string heard_;
};

// Runs until it is cancelled, like a long trial.
spec::TrialResult until_cancelled(const Engine::Poll& poll, const std::atomic<bool>& cancelled) {
  const spec::Progress progress{.stage = spec::Stage::kSending};
  while (!cancelled) {
    std::this_thread::sleep_for(milliseconds(5));
    poll(progress);
  }
  throw spec::TrialError(spec::ErrorKind::kCancelled, "cancelled");
}

TEST_F(TrialRequestsTest, AnswersATrialWithItsResultAndGoesOn) {
  start();
  for (const int id : {7, 8}) {
    ask_for_trial(id);
    EXPECT_EQ(hear().find(R"({"event":"result","id":)" + std::to_string(id)), 0U) << heard_;
  }
  say(R"({"request": "quit"})");
  EXPECT_EQ(hear(), "");
  EXPECT_EQ(failed_, 0);
}

TEST_F(TrialRequestsTest, GoesOnAfterALineThatIsNoRequest) {
  start();
  say("nonsense");
  EXPECT_EQ(hear(), R"*({"event":"error","kind":"request","message":"line: is not JSON )*"
                    R"*((expected one request per line)"})*");
  say(R"({"request": "trial", "id": 1, "spec": {}})");
  EXPECT_EQ(hear(), R"*({"event":"error","id":1,"kind":"spec","message":"version: is missing )*"
                    R"*((expected a value)"})*");
  say(R"({"request": "cancel"})");  // there is nothing to cancel
  ask_for_trial(2);
  EXPECT_EQ(hear().find(R"({"event":"result","id":2)"), 0U);
}

TEST_F(TrialRequestsTest, TellsTheKindOfATrialsError) {
  engine_.run = [](const spec::TrialSpec&, const Engine::Poll&,
                   const std::atomic<bool>&) -> spec::TrialResult {
    throw spec::TrialError(spec::ErrorKind::kNeighbour, "nobody is there");
  };
  start();
  ask_for_trial(3);
  EXPECT_EQ(hear(), R"({"event":"error","id":3,"kind":"neighbour","message":"nobody is there"})");
  EXPECT_EQ(failed_, 1);
}

// Takes the shortest of several cancels, because other programs may have the core for a while.
TEST_F(TrialRequestsTest, CancelsWithinATenthOfASecondAndThenRunsTheNext) {
  engine_.run = [](const spec::TrialSpec&, const Engine::Poll& poll,
                   const std::atomic<bool>& cancelled) { return until_cancelled(poll, cancelled); };
  start();
  auto shortest = steady_clock::duration::max();
  for (int id = 4; id < 6 || (id < 24 && shortest >= milliseconds(100)); ++id) {
    ask_for_trial(id);
    EXPECT_NE(hear().find(R"("event":"progress")"), std::string::npos);
    const auto asked = steady_clock::now();
    say(R"({"request": "cancel"})");
    while (hear().find(R"("event":"progress")") != std::string::npos) {
    }
    EXPECT_EQ(
        heard_.find(R"({"event":"error","id":)" + std::to_string(id) + R"(,"kind":"cancelled")"),
        0U)
        << heard_;
    shortest = std::min(shortest, steady_clock::now() - asked);
  }
  EXPECT_LT(shortest, milliseconds(100));
}

TEST_F(TrialRequestsTest, TellsProgressAtLeastOnceASecondAndRefusesASecondTrial) {
  engine_.run = [](const spec::TrialSpec&, const Engine::Poll& poll,
                   const std::atomic<bool>& cancelled) { return until_cancelled(poll, cancelled); };
  start();
  ask_for_trial(1);
  hear();
  const auto first = steady_clock::now();
  EXPECT_NE(hear().find(R"("stage":"sending")"), std::string::npos);
  EXPECT_LT(steady_clock::now() - first, milliseconds(1000));
  ask_for_trial(2);
  while (hear().find(R"("event":"progress")") != std::string::npos) {
  }
  EXPECT_EQ(heard_, R"*({"event":"error","id":2,"kind":"request","message":"request: trial 1 is )*"
                    R"*(running (expected a new trial after its end)"})*");
}

TEST_F(TrialRequestsTest, EndOfInputCancelsAndEnds) {
  engine_.run = [](const spec::TrialSpec&, const Engine::Poll& poll,
                   const std::atomic<bool>& cancelled) { return until_cancelled(poll, cancelled); };
  start();
  ask_for_trial(1);
  hear();
  in_.close_writing();
  while (hear().find(R"("event":"progress")") != std::string::npos) {
  }
  EXPECT_NE(heard_.find(R"("kind":"cancelled")"), std::string::npos);
  EXPECT_EQ(hear(), "");
}

TEST_F(TrialRequestsTest, ASignalOrAReaderThatIsGoneEndsIt) {
  engine_.run = [](const spec::TrialSpec&, const Engine::Poll& poll,
                   const std::atomic<bool>& cancelled) { return until_cancelled(poll, cancelled); };
  start();
  ask_for_trial(1);
  hear();
  out_.close_reading();
  loop_.join();  // does not return if the loop does not end
}

TEST_F(TrialRequestsTest, StopsBetweenTrialsToo) {
  start();
  while (idled_ < 2) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_EQ(write(signals_.ends[1], "", 1), 1);
  EXPECT_EQ(hear(), "");
}

TEST(LineReaderTest, GivesWholeLinesAndCutsOneThatIsTooLong) {
  Pipe pipe;
  plumbing::LineReader reader(pipe.ends[0]);
  std::thread writing([&pipe] {
    const auto text =
        "a\nb\n" + std::string(plumbing::LineReader::kMaxLineOctets + 100'000, 'x') + "\nc\nd";
    for (std::size_t at = 0; at < text.size();) {
      const auto n = write(pipe.ends[1], text.data() + at, text.size() - at);
      ASSERT_GT(n, 0);
      at += static_cast<std::size_t>(n);
    }
    pipe.close_writing();
  });
  std::vector<std::string> lines;
  while (!reader.ended()) {
    reader.read();
    while (auto line = reader.next()) lines.push_back(*line);
  }
  writing.join();
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "b", "a line too long", "c"}));
}

}  // namespace
}  // namespace natxy
