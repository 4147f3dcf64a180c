#include <gtest/gtest.h>

#include <stdexcept>

#include "port/device_string.hpp"

namespace natxy::port {
namespace {

TEST(DeviceString, TellsVirtualDevicesApartFromPci) {
  const auto xdp = parse_device("net_af_xdp0,iface=t0,busy_budget=0");
  EXPECT_EQ(xdp.name, "net_af_xdp0");
  EXPECT_EQ(xdp.driver, "net_af_xdp");
  EXPECT_EQ(xdp.interface(), "t0");
  EXPECT_EQ(xdp.number("busy_budget", 64), 0U);
  EXPECT_FALSE(xdp.pci);
  const auto nic = parse_device("0000:01:00.0,rx_vec_en=0");
  EXPECT_TRUE(nic.pci);
  EXPECT_EQ(nic.name, "0000:01:00.0");
  EXPECT_TRUE(parse_device("01:00.1").pci);
  for (const auto* same : {"01:0b.1", "01:0B.1", "0000:01:0B.1", "00000000:01:0b.1,rx_vec_en=0"}) {
    EXPECT_EQ(parse_device(same).name, "0000:01:0b.1") << same;  // as DPDK names it
  }
  EXPECT_EQ(parse_device("0001ABCD:01:00.1").name, "1abcd:01:00.1");
  EXPECT_TRUE(parse_device("ring").ring());
  EXPECT_EQ(parse_device("net_virtio_user3,path=/x").driver, "net_virtio_user");
  const auto old = parse_device("eth_pcap1,iface=t0");  // DPDK's older name of the driver
  EXPECT_EQ(old.name, "eth_pcap1");
  EXPECT_EQ(old.driver, "net_pcap");
  EXPECT_EQ(old.interface(), "t0");
  EXPECT_EQ(traits_of(parse_device("eth_ring0")).refusal, traits_of(parse_device("ring")).refusal);
  EXPECT_EQ(parse_device("net_memif0,socket=/run/x.sock").argument("socket"), "/run/x.sock");
}

TEST(DeviceString, RefusesWhatIsNeither) {
  for (const auto* text : {"", "eth0", "rings", "01:00.9", "net_", ",iface=t0", "--vdev"}) {
    EXPECT_THROW((void)parse_device(text), spec::TrialError) << text;
  }
}

DriverTraits traits(const char* device) {
  return traits_of(parse_device(device));
}

// ixgbe, igb and i40e tell a NIC the room in whole KB, em the next lower power of two.
TEST(FrameRoom, IsOneThatTheDriverDoesNotRoundDown) {
  const auto nic = parse_device("0000:01:00.0");
  EXPECT_EQ(frame_room_bytes(nic, "net_ixgbe", 1500), 2048);
  EXPECT_EQ(frame_room_bytes(nic, "net_ixgbe", 2000), 3072);
  EXPECT_EQ(frame_room_bytes(nic, "net_i40e", 9000), 9216);
  EXPECT_EQ(frame_room_bytes(nic, "net_e1000_em", 1500), 2048);
  EXPECT_EQ(frame_room_bytes(nic, "net_e1000_em", 2000), 4096);
  EXPECT_EQ(frame_room_bytes(nic, "net_e1000_em", 9000), 16384);
  EXPECT_EQ(frame_room_bytes(parse_device("net_af_xdp0,iface=t0"), "net_af_xdp", 3498), 3584)
      << "a page holds the frame, its headroom and the buffer's header";
}

TEST(DriverTraits, ARingThatTheGatewayEmptiesIsItsFault) {
  for (const auto* device : {"ring", "net_memif0", "net_vhost0,iface=/x", "net_virtio_user0"}) {
    EXPECT_EQ(traits(device).refusal, spec::Refusal::kGateway) << device;
  }
  for (const auto* device : {"0000:01:00.0", "net_af_xdp0", "net_af_packet0", "net_tap0"}) {
    EXPECT_EQ(traits(device).refusal, spec::Refusal::kTester) << device;
  }
}

TEST(DriverTraits, KnowHowManyFramesWaitForAPoll) {
  EXPECT_EQ(traits("net_memif0").rx_ring_frames, 1024U);
  EXPECT_EQ(traits("net_memif0,rsize=12").rx_ring_frames, 4096U);
  EXPECT_TRUE(traits("net_memif0").must_reconnect);
  EXPECT_FALSE(traits("net_memif0,role=server").must_reconnect);
  EXPECT_EQ(traits("net_af_packet0,iface=x").rx_ring_frames, 512U);
  EXPECT_EQ(traits("net_af_packet0,iface=x,framecnt=8192").rx_ring_frames, 8192U);
  EXPECT_EQ(traits("net_af_xdp0,iface=x").rx_descriptors, 2048U);
}

std::string complaint(const char* device, std::uint16_t mtu_bytes) {
  try {
    check_arguments(parse_device(device), mtu_bytes);
  } catch (const spec::TrialError& error) {
    return error.what();
  }
  return "";
}

TEST(DriverTraits, RefuseArgumentsThatWouldLoseFrames) {
  EXPECT_EQ(complaint("net_af_packet0,iface=x,qpairs=2", 1500),
            "net_af_packet0 has qpairs=2, but the tester uses one queue of such a device (expected "
            "qpairs=1)");
  EXPECT_NE(complaint("net_af_xdp0,iface=x,queue_count=4", 1500), "");
  EXPECT_EQ(complaint("net_af_packet0,iface=x", 1500), "");
  EXPECT_NE(complaint("net_af_packet0,iface=x", 2000).find("framesz=4096"), std::string::npos);
  EXPECT_EQ(complaint("net_af_packet0,iface=x,framesz=4096,blocksz=65536", 2000), "");
}

}  // namespace
}  // namespace natxy::port
