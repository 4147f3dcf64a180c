#include "options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plumbing/options.hpp"

namespace natxy {
namespace {

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "natxy-engine");
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return parse_options(static_cast<int>(words.size()), pointers.data());
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    (void)parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kCpu = std::to_string(plumbing::allowed_cpus().front());

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), {"--left", "ring", "--right", "ring", "--cores", kCpu});
  return more;
}

TEST(Options, TakesTheDocumentedOnes) {
  const auto options =
      parse(with({"--mtu", "2000", "--huge-pages", "never", "--memory-mb", "128", "--tx-queues=2",
                  "--main-cores", kCpu, "--arrival-clock", "tsc", "--rx-queues", "4"}));
  EXPECT_EQ(options.left, "ring");
  EXPECT_EQ(options.cores, plumbing::parse_cpu_list(kCpu));
  EXPECT_EQ(options.main_cores, options.cores);
  EXPECT_EQ(options.mtu_bytes, 2000);
  EXPECT_FALSE(options.huge_pages);
  EXPECT_EQ(options.memory_mb, 128U);
  EXPECT_EQ(options.tx_queues, 2U);
  EXPECT_EQ(options.rx_queues, 4U);
  EXPECT_FALSE(options.own_clocks);
  EXPECT_TRUE(parse({"--version"}).version);
}

TEST(Options, HasTheDocumentedDefaults) {
  const auto options = parse(with({}));
  EXPECT_EQ(options.mtu_bytes, 1500);
  EXPECT_TRUE(options.huge_pages);
  EXPECT_EQ(options.memory_mb, 512U);
  EXPECT_FALSE(options.tx_queues);
  EXPECT_EQ(options.rx_queues, 1U);
  EXPECT_TRUE(options.own_clocks);
  EXPECT_EQ(options.main_cores, plumbing::allowed_cpus());
}

TEST(Options, RefusesInASentence) {
  EXPECT_EQ(complaint({"--right", "ring", "--cores", kCpu}),
            "--left is missing (expected natxy-engine --left DEVICE --right DEVICE --cores LIST)");
  EXPECT_EQ(complaint(with({"--mtu", "9199"})),
            "--mtu: \"9199\" is out of range (expected 1280 to 9198)");
  EXPECT_EQ(complaint(with({"--huge-pages", "always"})),
            "--huge-pages: \"always\" is unknown (expected auto or never)");
  EXPECT_EQ(complaint(with({"--arrival-clock", "sundial"})),
            "--arrival-clock: \"sundial\" is unknown (expected auto or tsc)");
  const std::string known =
      ": is an unknown option or has no value (expected --left, --right, --cores, --main-cores, "
      "--mtu, --huge-pages, --memory-mb, --tx-queues, --rx-queues, --arrival-clock, --records-fd "
      "or "
      "--version)";
  EXPECT_EQ(complaint(with({"--wings"})), "--wings" + known);
  EXPECT_EQ(complaint(with({"--mtu"})), "--mtu" + known);
  EXPECT_EQ(complaint(with({"more"})), "more: is not an option (expected --OPTION VALUE)");
  EXPECT_EQ(complaint({"--left", "ring", "--right", "ring", "--cores", "x"}).substr(0, 12),
            "--cores: \"x\"");
  EXPECT_EQ(complaint({"--left", "ring", "--right", "ring", "--cores", "1023"}).substr(0, 43),
            "--cores: this process may not use CPU 1023 ");
}

TEST(CpuList, ReadsNumbersAndRanges) {
  EXPECT_EQ(plumbing::parse_cpu_list("2,3"), (std::vector{2, 3}));
  EXPECT_EQ(plumbing::parse_cpu_list("4-6,1"), (std::vector{4, 5, 6, 1}));
  for (const auto* text : {"", "a", "1,", "3-2", "1,1", "-1", "1-", "1-2-3", "99999", "1 2"}) {
    EXPECT_THROW((void)plumbing::parse_cpu_list(text), std::invalid_argument) << text;
  }
  EXPECT_FALSE(plumbing::allowed_cpus().empty());
}

}  // namespace
}  // namespace natxy
