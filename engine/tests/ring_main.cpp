#include <gtest/gtest.h>

#include "ring_environment.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new natxy::tests::RingEnvironment);
  return RUN_ALL_TESTS();
}
