#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "port/machine.hpp"

namespace natxy::port {
namespace {

TEST(Machine, ReadsProc) {
  const auto file = testing::TempDir() + "natxy-cpuinfo";
  std::ofstream(file) << "model name\t: Some CPU\nflags\t\t: fpu constant_tsc nonstop_tsc avx\n";
  EXPECT_EQ(cpu_model(file), "Some CPU");
#if defined(__x86_64__)
  EXPECT_TRUE(tsc_invariant(file));
  std::ofstream(file) << "flags\t\t: fpu constant_tsc\n";
  EXPECT_FALSE(tsc_invariant(file));
#endif
  EXPECT_EQ(cpu_model("/nowhere"), "unknown");
  EXPECT_EQ(kernel().substr(0, 6), "Linux ");
}

TEST(TscRate, TwoMeasurementsAgree) {
  const auto first = static_cast<double>(TscRate().hz());
  const auto second = static_cast<double>(TscRate().hz());
  EXPECT_GT(first, 1e7);
  EXPECT_LT(std::abs(first - second) / first, 1e-4);  // on an idle machine, it is 1e-6
}

}  // namespace
}  // namespace natxy::port
