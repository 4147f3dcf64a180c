// Tests that each event has the members of the package's models, and no others: those of the
// example that is made from the models.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "spec/json.hpp"
#include "spec_examples.hpp"

namespace natxy::spec {
namespace {

using Json = nlohmann::json;

// Returns the JSON pointers of all values that contain no others.
std::set<std::string> members(const Json& json) {
  const auto flat = json.flatten();
  std::set<std::string> pointers;
  for (const auto& [pointer, value] : flat.items()) pointers.insert(pointer);
  return pointers;
}

std::set<std::string> members_of_example(const std::string& event) {
  const auto file = std::filesystem::path(NATXY_EXAMPLES) / "events.json";
  return members(Json::parse(contents(file)).at(event));
}

// Returns a result with all optional members, and one element of each list of objects.
TrialResult whole_result() {
  TrialResult result;
  result.invalid_reasons.resize(1);
  result.connections.emplace().mappings.emplace();
  auto& stream = result.streams.emplace_back();
  for (auto& kind : stream.kinds) kind.emplace().ipdv.emplace();
  stream.tags.emplace();
  stream.losses.emplace();
  stream.connections.emplace();
  auto& port = result.ports.emplace_back();
  port.clock.own = true;
  port.icmp.listed.resize(1);
  result.workers.resize(1);
  result.watched.resize(1);
  result.faults.resize(1);
  return result;
}

TEST(Events, HelloHasTheMembersOfTheModels) {
  Hello hello;
  hello.worker_cpus = {1};
  hello.ports.resize(1);
  EXPECT_EQ(members(Json::parse(hello_event(hello))), members_of_example("hello"));
}

TEST(Events, ProgressHasTheMembersOfTheModels) {
  EXPECT_EQ(members(Json::parse(progress_event(1, {}))), members_of_example("progress"));
}

TEST(Events, AResultHasTheMembersOfTheModels) {
  EXPECT_EQ(members(Json::parse(result_event(1, whole_result()))), members_of_example("result"));
}

TEST(Events, AnErrorHasTheMembersOfTheModels) {
  ErrorEvent error{.id = 1};
  error.icmp[0].resize(1);
  EXPECT_EQ(members(Json::parse(error_event(error))), members_of_example("error"));
}

}  // namespace
}  // namespace natxy::spec
