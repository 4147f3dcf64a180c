// DPDK as both programs use it: its start, its interrupt thread, and the buffers of AF_XDP.
#pragma once

#include <cstddef>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

struct rte_intr_handle;
struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::plumbing {

struct EalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct EalOptions {
  std::string file_prefix;               // ends in this process's number, such as natxy-4711
  std::vector<int> worker_cpus;          // one worker lcore each, numbered from 1
  std::vector<int> main_cpus;            // the CPUs that the main lcore may use
  std::vector<std::string> pci_devices;  // with their arguments
  bool huge_pages_allowed = true;        // used if enough of them are free
  unsigned memory_mb = 512;
};

// DPDK's environment abstraction layer: started once per process; removes its files at the end, and
// at the start those of processes that were killed.
class Eal {
 public:
  // Throws EalError.
  explicit Eal(const EalOptions& options);
  ~Eal();  // closes the ports that are still open
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  [[nodiscard]] bool huge_pages() const { return huge_pages_; }

 private:
  // Removes DPDK's folder, also if DPDK could not start.
  struct Folder {
    ~Folder();
    std::string path;
  };
  bool huge_pages_;
  Folder folder_;
};

// Returns the arguments for rte_eal_init().
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages);

// Creates a virtual device, or attaches another one, by its name and arguments. Returns 0 or a
// negative error number.
[[nodiscard]] int probe(const std::string& device);

// Returns whether the free huge pages of one size hold this much memory. root: /sys, except in
// tests.
[[nodiscard]] bool enough_huge_pages(std::size_t memory_mb, const std::string& root = "/sys");

// Holds DPDK's interrupt thread while a program uses ports whose driver unmaps their rings in that
// thread.
//
// When the peer of a memif ends, the driver unmaps the rings in the interrupt thread, even while
// another thread sends or receives: the process then dies of SIGSEGV. So the interrupt thread only
// runs where no thread uses such a port; a peer that has ended is noticed then.
//
// The functions are called by one thread at a time. Throws std::runtime_error if DPDK takes no
// further event.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  // Lets the interrupt thread handle all events that are pending.
  void let_pass();

  // While it exists, the interrupt thread runs.
  class Released {
   public:
    explicit Released(HeldInterrupts& held) : held_(held) { held_.let_go(); }
    ~Released() { held_.hold(); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

   private:
    HeldInterrupts& held_;
  };

 private:
  static void wait(void* held);  // what the interrupt thread executes
  void hold();
  void let_go() { go_on_.release(); }

  int event_;
  rte_intr_handle* handle_;
  std::binary_semaphore waits_{0};  // the interrupt thread waits
  std::binary_semaphore go_on_{0};
};

struct UmemOrder {
  std::string name;
  unsigned frames = 0;
  unsigned cache_frames = 0;
  int numa_node = 0;
};

// The size of a buffer, including all that precedes its frame. Not larger, because the kernel
// accepts at most its page size; not smaller, so that no buffer crosses a page boundary, which a
// NIC with zero copy could not use.
inline constexpr std::size_t kUmemBufferOctets = 4096;

// Creates the buffers of an AF_XDP port, in one piece of memory that user space and kernel share (a
// umem).
//
// net_af_xdp of DPDK 22.11 registers (number of buffers) x (buffer size) octets, from the first
// buffer on. A pool of rte_pktmbuf_pool_create() is longer: it leaves gaps so that no buffer
// crosses a page boundary, and with pages of 4 KiB, two fifths of the buffers are then beyond the
// registered end. The kernel takes such a buffer from the fill ring or the transmit ring and drops
// it: frames that never leave count as sent, and in the end no frame arrives.
//
// Returns null and sets rte_errno if there is not enough memory.
[[nodiscard]] rte_mempool* create_umem_pool(const UmemOrder& order);

}  // namespace natxy::plumbing
