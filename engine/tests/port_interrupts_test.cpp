// While it is held, DPDK's interrupt thread, in which the driver of a memif unmaps its rings, does
// nothing.
#include <gtest/gtest.h>
#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "plumbing/dpdk.hpp"
#include "port/device.hpp"
#include "port_environment.hpp"
#include "port_ring.hpp"

namespace natxy::port {
namespace {

using plumbing::HeldInterrupts;
using spec::Side;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Long enough for a thread that is free to handle an event, also on a busy machine. A thread that
// is held does not handle it however long the test waits.
constexpr milliseconds kLong{200};

// An event that the interrupt thread handles, as it handles the end of a memif's peer.
class Event {
 public:
  Event() : fd_(eventfd(0, EFD_CLOEXEC)), handle_(handle_of(fd_)) {
    EXPECT_EQ(rte_intr_callback_register(handle_, handle, this), 0);
  }
  ~Event() {
    while (rte_intr_callback_unregister(handle_, handle, this) < 0) usleep(10);
    rte_intr_instance_free(handle_);
    close(fd_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void happen() { eventfd_write(fd_, 1); }
  [[nodiscard]] unsigned handled() const { return handled_; }
  // Waits until it was handled so often, for at most kLong.
  [[nodiscard]] bool is_handled(unsigned times) const {
    for (const auto end = steady_clock::now() + kLong; steady_clock::now() < end;) {
      if (handled_ == times) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return handled_ == times;
  }

 private:
  static rte_intr_handle* handle_of(int fd) {
    auto* made = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    rte_intr_fd_set(made, fd);
    rte_intr_type_set(made, RTE_INTR_HANDLE_EXT);
    return made;
  }
  static void handle(void* event) {
    auto& self = *static_cast<Event*>(event);
    eventfd_t count = 0;
    eventfd_read(self.fd_, &count);
    ++self.handled_;
  }

  int fd_;
  rte_intr_handle* handle_;
  std::atomic<unsigned> handled_{0};
};

TEST(HeldInterrupts, NothingIsHandledUntilTheThreadIsLetPass) {
  Event event;
  HeldInterrupts held;
  event.happen();
  EXPECT_FALSE(event.is_handled(1));
  held.let_pass();
  EXPECT_EQ(event.handled(), 1U) << "what was pending has been handled when let_pass() returns";
  event.happen();
  EXPECT_FALSE(event.is_handled(2)) << "it is held again";
}

TEST(HeldInterrupts, TheThreadRunsWhileItIsReleased) {
  Event event;
  HeldInterrupts held;
  {
    const HeldInterrupts::Released released(held);
    event.happen();
    EXPECT_TRUE(event.is_handled(1));
  }
  event.happen();
  EXPECT_FALSE(event.is_handled(2));
}

TEST(HeldInterrupts, TheThreadRunsAfterThem) {
  Event event;
  { const HeldInterrupts held; }
  event.happen();
  EXPECT_TRUE(event.is_handled(1));
}

// A memif without a peer on the left, a ring on the right.
class MemifDeviceTest : public testing::Test {
 protected:
  MemifDeviceTest() {
    const auto socket = testing::TempDir() + "natxy-" + std::to_string(getpid()) + ".sock";
    const auto memif = "net_memif9,role=server,id=9,socket-abstract=no,socket=" + socket;
    device_ = std::make_unique<Device>(
        std::array{Port::open({.side = Side::kLeft, .device = parse_device(memif), .workers = 2}),
                   cable_.port(Side::kRight)},
        tests::worker_cpus(), run::TickRate(1'000'000'000));
  }

  Event event_;  // known to the interrupt thread before the device holds it
  tests::RingCable cable_;
  std::unique_ptr<Device> device_;
};

TEST_F(MemifDeviceTest, NoRingIsUnmappedWhileAWorkerUsesIt) {
  bool handled = true;
  device_->launch(
      0,
      [&] {
        event_.happen();
        handled = event_.is_handled(1);
      },
      false);
  device_->join();
  EXPECT_FALSE(handled) << "while the worker ran";
  EXPECT_EQ(event_.handled(), 1U) << "after it";
}

}  // namespace
}  // namespace natxy::port
