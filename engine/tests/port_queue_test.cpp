#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <array>
#include <numeric>

#include "port/device.hpp"
#include "port/machine.hpp"
#include "port_ring.hpp"

namespace natxy::port {
namespace {

using tests::Octets;
using tests::RingCable;

Octets octets(std::size_t size, std::uint8_t first) {
  Octets octets(size);
  std::iota(octets.begin(), octets.end(), first);
  return octets;
}

TEST(TxQueue, SendsWhatItWasFilledWithAndWhatWasPatched) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  queue.fill(0, octets(80, 1));
  std::array<rte_mbuf*, 2> frames;
  ASSERT_TRUE(queue.allocate(0, frames.data(), 2));
  TxQueue::data(frames[1])[79] = 0xee;
  ASSERT_EQ(queue.send(frames.data(), 2), 2U);
  EXPECT_EQ(cable.take(), octets(80, 1));
  auto patched = octets(80, 1);
  patched[79] = 0xee;
  EXPECT_EQ(cable.take(), patched);
  EXPECT_EQ(cable.take(), Octets{});
}

TEST(TxQueue, EveryBufferHoldsTheTemplateAlsoAfterAnother) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  for (const auto& frame : {octets(1500, 7), octets(60, 9)}) {
    queue.fill(0, frame);
    for (unsigned round = 0; round < 6; ++round) {  // in total more frames than the pool has
      std::array<rte_mbuf*, 1000> frames;
      ASSERT_TRUE(queue.allocate(0, frames.data(), 1000));
      ASSERT_EQ(queue.send(frames.data(), 1000), 1000U);
      for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(cable.take(), frame);
    }
  }
}

// A stream with varying addresses may have the template of one without, which does not patch them.
TEST(TxQueue, WhatWasPatchedInHeadersIsGoneAfterTheNextFill) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  queue.fill(0, octets(80, 1), 54, true);
  std::array<rte_mbuf*, 1000> frames;
  for (unsigned round = 0; round < 6; ++round) {  // in total more frames than the pool has
    ASSERT_TRUE(queue.allocate(0, frames.data(), 1000));
    for (auto* frame : frames) TxQueue::data(frame)[30] = 0xee;
    ASSERT_EQ(queue.send(frames.data(), 1000), 1000U);
    while (!cable.take().empty()) {
    }
  }
  queue.fill(0, octets(80, 1), 54, false);
  ASSERT_TRUE(queue.allocate(0, frames.data(), 1));  // one of those that are taken together
  ASSERT_EQ(queue.send(frames.data(), 1), 1U);
  EXPECT_EQ(cable.take(), octets(80, 1));
  ASSERT_TRUE(queue.allocate(0, frames.data(), 1000));
  ASSERT_EQ(queue.send(frames.data(), 1000), 1000U);
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(cable.take(), octets(80, 1));
}

TEST(TxQueue, KindsHaveTemplatesOfTheirOwn) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  queue.fill(0, octets(80, 1));
  queue.fill(1, octets(90, 2));
  std::array<rte_mbuf*, 2> frames;
  ASSERT_TRUE(queue.allocate(1, &frames[0], 1));
  ASSERT_TRUE(queue.allocate(0, &frames[1], 1));
  ASSERT_EQ(queue.send(frames.data(), 2), 2U);
  EXPECT_EQ(cable.take(), octets(90, 2));
  EXPECT_EQ(cable.take(), octets(80, 1));
}

TEST(TxQueue, FillingWithTheSameAgainTouchesNothing) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  queue.fill(0, octets(80, 1));
  rte_mbuf* frame = nullptr;
  ASSERT_TRUE(queue.allocate(0, &frame, 1));
  TxQueue::data(frame)[0] = 0xaa;
  queue.fill(0, octets(80, 1));
  EXPECT_EQ(TxQueue::data(frame)[0], 0xaa);
  queue.fill(0, octets(81, 1));
  EXPECT_EQ(TxQueue::data(frame)[0], 1);
  queue.release(&frame, 1);
}

TEST(TxQueue, AFullRingRefusesTheRestAndAnEmptyPoolAllocatesNothing) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  auto& queue = port->tx_queue(0);
  queue.fill(0, octets(60, 1));
  EXPECT_TRUE(queue.refusal_is_gateways());
  std::array<rte_mbuf*, 1030> frames;
  ASSERT_TRUE(queue.allocate(0, frames.data(), 1030));
  ASSERT_EQ(queue.send(frames.data(), 1030), 1023U);
  queue.release(&frames[1023], 7);
  std::vector<rte_mbuf*> hoard;
  for (rte_mbuf* frame = nullptr; queue.allocate(0, &frame, 1);) hoard.push_back(frame);
  EXPECT_EQ(hoard.size(), 4095U - 1023U);
  queue.release(hoard.data(), static_cast<unsigned>(hoard.size()));
  EXPECT_TRUE(queue.allocate(0, frames.data(), 32));
  queue.release(frames.data(), 32);
}

TEST(TxQueue, RefusesATemplateThatDoesNotFit) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kLeft);
  EXPECT_THROW(port->tx_queue(0).fill(0, octets(4000, 1)), spec::TrialError);
}

TEST(RxQueue, GivesFramesAndTakesThemBack) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kRight);
  const auto unused = cable.unused();
  for (unsigned i = 0; i < 40; ++i) cable.put(octets(60 + i, 3));
  std::array<rte_mbuf*, 32> frames;
  auto& queue = port->rx_queue();
  ASSERT_EQ(queue.receive(frames.data(), 32), 32U);
  RxQueue::prefetch(frames[5]);
  EXPECT_EQ(RxQueue::length(frames[5]), 65U);
  EXPECT_EQ(RxQueue::data(frames[5])[64], 3 + 64);
  queue.release(frames.data(), 32);
  ASSERT_EQ(queue.receive(frames.data(), 32), 8U);
  queue.release(frames.data(), 8);
  EXPECT_EQ(cable.unused(), unused);
}

TEST(RxQueue, OfAFrameInPiecesOnlyTheFirstIsSeen) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kRight);
  cable.put(octets(100, 1), {70, 30});
  rte_mbuf* frame = nullptr;
  ASSERT_EQ(port->rx_queue().receive(&frame, 1), 1U);
  EXPECT_EQ(RxQueue::length(frame), 70U);
  const auto unused = cable.unused();
  port->rx_queue().release(&frame, 1);
  EXPECT_EQ(cable.unused(), unused + 2);
}

// Frames that the port has time-stamped with a clock in nanoseconds.
class Stamped : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rte_mbuf_dyn_rx_timestamp_register(&field_.offset, &field_.flag), 0);
    ASSERT_TRUE(clock_);
    clock_->settle();
    port_->rx_queue().time_by(&*clock_, field_, {.ahead = ticks(20'000), .waits = ticks(1e9)});
  }
  static std::uint64_t shows() {
    return static_cast<std::uint64_t>(rate().to_ns(static_cast<double>(run::TscClock::now())));
  }
  static const run::TickRate& rate() {
    static const run::TickRate of(TscRate().hz());
    return of;
  }
  static std::int64_t ticks(double ns) {
    return static_cast<std::int64_t>(rate().from_ns(static_cast<std::uint64_t>(ns)));
  }
  // Returns how long a frame with this stamp waited; absent: a frame without a stamp.
  double waited_ns(std::optional<std::uint64_t> stamp) {
    cable_.put(octets(60, 1));
    rte_mbuf* frame = nullptr;
    EXPECT_EQ(port_->rx_queue().receive(&frame, 1), 1U);
    frame->ol_flags = 0;
    if (stamp) {
      frame->ol_flags = field_.flag;
      *RTE_MBUF_DYNFIELD(frame, field_.offset, rte_mbuf_timestamp_t*) = *stamp;
    }
    const auto waited = port_->rx_queue().waited(frame, run::TscClock::now());
    port_->rx_queue().release(&frame, 1);
    return rate().to_ns(static_cast<double>(waited));
  }

  RingCable cable_;
  std::unique_ptr<Port> port_ = cable_.port(spec::Side::kRight);
  std::optional<PortClock> clock_ = PortClock::of([] { return std::optional(shows()); }, rate());
  StampField field_;
};

TEST_F(Stamped, WaitedSinceTheStamp) {
  EXPECT_TRUE(port_->rx_queue().stamps());
  double nearest_ns = 1e12;  // the best of several tries, because the core may be taken away
  for (int i = 0; i < 20; ++i) {
    const auto waited = waited_ns(shows() - 5'000'000);
    EXPECT_GT(waited, 4.98e6);
    nearest_ns = std::min(nearest_ns, waited - 5e6);
  }
  EXPECT_LT(nearest_ns, 20'000);
  EXPECT_EQ(port_->rx_queue().unstamped(), 0U);
  EXPECT_EQ(port_->rx_queue().implausible(), 0U);
}

TEST_F(Stamped, AFrameWithoutAStampCameWhenItWasFound) {
  EXPECT_EQ(waited_ns(std::nullopt), 0.0);
  EXPECT_EQ(port_->rx_queue().unstamped(), 1U);
}

TEST_F(Stamped, AStampThatCannotBeIsCounted) {
  EXPECT_EQ(waited_ns(shows() + 1'000'000'000), 0.0);  // later than it was found
  EXPECT_EQ(waited_ns(shows() - 2'000'000'000), 0.0);  // no ring holds a frame so long
  EXPECT_EQ(waited_ns(0), 0.0);
  EXPECT_EQ(port_->rx_queue().implausible(), 3U);
  EXPECT_EQ(port_->rx_queue().unstamped(), 0U);
}

TEST_F(Stamped, StampsFailIfMostOfThemAreMissingOrWrong) {
  EXPECT_FALSE(port_->rx_queue().stamps_fail());
  waited_ns(std::nullopt);
  EXPECT_TRUE(port_->rx_queue().stamps_fail());
  waited_ns(shows());
  EXPECT_FALSE(port_->rx_queue().stamps_fail());
  waited_ns(0);
  EXPECT_TRUE(port_->rx_queue().stamps_fail());
}

// A driver with this mode, which takes another one or not.
struct Paused {
  int known = 0;
  int changes = 0;
  bool obeys = true;
  rte_eth_fc_conf now{};

  bool stays() {
    return flow_control_stays(
        [this](rte_eth_fc_conf& is) {
          is = now;
          return known;
        },
        [this](rte_eth_fc_conf& to) {
          if (obeys) now = to;
          return changes;
        });
  }
};

TEST(FlowControl, IsSwitchedOffAndAllElseOfItStays) {
  Paused port;
  port.now.mode = RTE_ETH_FC_FULL;
  port.now.autoneg = 1;
  port.now.high_water = 0x5000;
  EXPECT_FALSE(port.stays());
  EXPECT_EQ(port.now.mode, RTE_ETH_FC_NONE);
  EXPECT_EQ(port.now.autoneg, 0);
  EXPECT_EQ(port.now.high_water, 0x5000U);
}

TEST(FlowControl, ThatIsOffOrUnknownIsLeftAlone) {
  Paused off;
  off.now.autoneg = 1;
  EXPECT_FALSE(off.stays());
  EXPECT_EQ(off.now.autoneg, 1);
  Paused unknown{.known = -ENOTSUP};
  unknown.now.mode = RTE_ETH_FC_FULL;
  EXPECT_FALSE(unknown.stays());
  EXPECT_EQ(unknown.now.mode, RTE_ETH_FC_FULL);
}

TEST(FlowControl, ThatStaysOnIsTold) {
  Paused refuses{.changes = -EPERM, .obeys = false};
  refuses.now.mode = RTE_ETH_FC_RX_PAUSE;
  EXPECT_TRUE(refuses.stays());
  Paused lies{.obeys = false};
  lies.now.mode = RTE_ETH_FC_TX_PAUSE;
  EXPECT_TRUE(lies.stays());
}

TEST(EthDevice, HasTheCountersThatItsDriverNames) {
  auto in = make_ring(8, Producers::kOne);
  auto out = make_ring(8, Producers::kOne);
  const Pool pool(create_pool({.name = "counted", .frames = 1023}));
  const auto device = EthDevice::over_rings({in.get()}, {out.get()}, 1);
  rte_eth_conf configuration{};
  ASSERT_EQ(rte_eth_dev_configure(device.id(), 1, 1, &configuration), 0);
  ASSERT_EQ(rte_eth_rx_queue_setup(device.id(), 0, 8, 0, nullptr, pool.get()), 0);
  ASSERT_EQ(rte_eth_tx_queue_setup(device.id(), 0, 8, 0, nullptr), 0);
  ASSERT_EQ(rte_eth_dev_start(device.id()), 0);
  rte_ring_enqueue(in.get(), rte_pktmbuf_alloc(pool.get()));
  rte_mbuf* frame = nullptr;
  ASSERT_EQ(rte_eth_rx_burst(device.id(), 0, &frame, 1), 1U);
  rte_pktmbuf_free(frame);
  EXPECT_EQ(device.extended_counter("rx_good_packets"), 1U);
  EXPECT_EQ(device.extended_counter("rx_phy_discard_packets"), 0U) << "a ring has none";
}

TEST(Port, OverRingsStampsNothing) {
  RingCable cable;
  const auto port = cable.port(spec::Side::kRight);
  EXPECT_FALSE(port->rx_queue().stamps());
  EXPECT_FALSE(port->clock_reader());
}

TEST(Port, HasAMacAndTellsAboutItself) {
  RingCable left;
  RingCable right;
  const auto ports = std::array{left.port(spec::Side::kLeft, 3), right.port(spec::Side::kRight)};
  EXPECT_EQ(ports[0]->tx_queues(), 3U);
  EXPECT_NE(ports[0]->mac(), ports[1]->mac());
  EXPECT_EQ(ports[0]->info().driver, "net_ring");
  EXPECT_EQ(ports[0]->info().refusal, spec::Refusal::kGateway);
  EXPECT_EQ(ports[1]->info().side, spec::Side::kRight);
  EXPECT_EQ(ports[1]->info().rx_ring_frames, 1023U);
  EXPECT_EQ(ports[1]->counters().rx_missed, 0U);
  EXPECT_TRUE(ports[1]->link_up());
}

TEST(Port, APairOfQueuesIsNotUsedForItsTransmitQueueAlone) {
  EXPECT_EQ(tx_queue_limit("net_virtio", 4, 1), 1U);
  EXPECT_EQ(tx_queue_limit("net_virtio", 4, 2), 4U);  // RSS chooses among the receive queues
  EXPECT_EQ(tx_queue_limit("net_vmxnet3", 4, 1), 4U);
}

TEST(Port, ARingHoldsAsManyFramesAsTheDriverHasFilledItWith) {
  const Pool pool(create_pool({.name = "filled", .frames = 1023}));
  EXPECT_EQ(ring_frames(pool.get(), 1024), 1024U);  // not filled yet
  std::array<rte_mbuf*, 256> buffers{};
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool.get(), buffers.data(), buffers.size()), 0);
  EXPECT_EQ(ring_frames(pool.get(), 1024), 256U);  // the device has a smaller ring
  EXPECT_EQ(ring_frames(pool.get(), 128), 128U);   // some drivers keep more buffers than the ring
  rte_pktmbuf_free_bulk(buffers.data(), buffers.size());
}

std::string complaint(const std::string& left, const std::string& right,
                      std::optional<unsigned> tx_queues = std::nullopt,
                      spec::ErrorKind kind = spec::ErrorKind::kDevice) {
  try {
    const Device device({.devices = {parse_device(left), parse_device(right)},
                         .worker_cpus = {0},
                         .mtu_bytes = 1500,
                         .tx_queues = tx_queues},
                        TscRate());
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "accepted";
}

std::string refused(std::uint64_t hashes) {
  try {
    (void)distributed_by(parse_device("0000:01:00.0"), hashes);
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), spec::ErrorKind::kDevice);
    return error.what();
  }
  return "accepted";
}

TEST(Port, DistributesFramesByThePortsOfUdpOrSaysWhyNot) {
  const auto nic = parse_device("0000:01:00.0");
  const auto all = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
  EXPECT_EQ(distributed_by(nic, all | RTE_ETH_RSS_SCTP), all);
  const auto ipv4 = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
  EXPECT_EQ(distributed_by(nic, ipv4), ipv4);
  EXPECT_EQ(refused(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP),
            "the device \"0000:01:00.0\" does not distribute frames among receive queues by the "
            "ports of UDP (expected --rx-queues 1)");
  EXPECT_EQ(refused(RTE_ETH_RSS_SCTP),
            "the device \"0000:01:00.0\" does not distribute frames among receive queues "
            "(expected --rx-queues 1)");
}

TEST(Port, OpensDevicesOrSaysWhyNot) {
  EXPECT_EQ(complaint("net_null0", "net_null1"), "accepted");
  EXPECT_EQ(complaint("net_null0", "net_null1", 2), "accepted") << "a device can be made again";
  EXPECT_EQ(complaint("net_null0", "net_null0"),
            "right: both ports have the name net_null0 (expected two names, such as net_null0 and "
            "net_null1)");
  EXPECT_EQ(complaint("net_af_packet0,iface=natxy-none", "net_null1"),
            "left: there is no network interface natxy-none in this network namespace (expected "
            "the name of one)");
  EXPECT_EQ(complaint("net_af_packet0,iface=lo,framesz=2048", "net_null1", 2),
            "left: the device \"net_af_packet0,iface=lo,framesz=2048\" does not have 2 transmit "
            "queues (expected --tx-queues 1 to 1)");
  EXPECT_NE(complaint("net_null0", "net_nowhere1", std::nullopt, spec::ErrorKind::kDriver)
                .find("cannot be created"),
            std::string::npos);
  EXPECT_NE(complaint("0000:7f:1f.7", "net_null1").find("finds no Ethernet device"),
            std::string::npos);
  EXPECT_EQ(complaint("ring", "net_null1"),
            "--left, --right: one is \"ring\" and the other is not (expected both or neither)");
}

}  // namespace
}  // namespace natxy::port
