// Tests that a packet socket of this program does not join a group that reassembles fragments.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

namespace natxy::port {
namespace {

constexpr unsigned kGroup = 0x4e58;
constexpr unsigned kFlagsFrom = 16;

// Returns a socket in a group with these flags, as net_af_packet makes it; -1 if this process may
// not.
int socket_in_group(unsigned flags) {
  const int handle = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  if (handle < 0) return -1;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
  EXPECT_EQ(bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const unsigned fanout = kGroup | flags << kFlagsFrom;
  EXPECT_EQ(setsockopt(handle, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof fanout), 0);
  return handle;
}

unsigned flags_of(int handle) {
  unsigned fanout = 0;
  socklen_t size = sizeof fanout;
  EXPECT_EQ(getsockopt(handle, SOL_PACKET, PACKET_FANOUT, &fanout, &size), 0);
  return fanout >> kFlagsFrom;
}

TEST(PacketFanout, FragmentsAreNotPutTogether) {
  constexpr unsigned kAsked =
      PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG | PACKET_FANOUT_FLAG_ROLLOVER;
  const int handle = socket_in_group(kAsked);
  if (handle < 0) GTEST_SKIP() << "needs CAP_NET_RAW";
  EXPECT_EQ(flags_of(handle), unsigned{PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_ROLLOVER});
  close(handle);
}

// The behaviour of the C library is kept: errno, and all other options.
TEST(PacketFanout, OtherOptionsAreAsTheyWere) {
  const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int asked = 65536;
  EXPECT_EQ(setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &asked, sizeof asked), 0);
  int set = 0;
  socklen_t size = sizeof set;
  EXPECT_EQ(getsockopt(handle, SOL_SOCKET, SO_RCVBUF, &set, &size), 0);
  EXPECT_EQ(set, 2 * asked) << "as socket(7) has it";
  EXPECT_EQ(setsockopt(handle, SOL_PACKET, PACKET_FANOUT, &asked, sizeof asked), -1);
  EXPECT_EQ(errno, ENOPROTOOPT);
  close(handle);
}

}  // namespace
}  // namespace natxy::port
