#include <gtest/gtest.h>

#include "port_environment.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new natxy::tests::PortEnvironment);
  return RUN_ALL_TESTS();
}
