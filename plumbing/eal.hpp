// DPDK's environment abstraction layer: started once per process; removes its files at the end.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace natxy::plumbing {

struct EalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Eal {
 public:
  // Starts DPDK. arguments: the program's name, then those for rte_eal_init(). Throws EalError.
  explicit Eal(std::vector<std::string> arguments);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  // Returns the folder of this process, in the folder of all processes that use DPDK.
  [[nodiscard]] const std::string& folder() const { return folder_.path; }

 private:
  // Removes DPDK's folder, also if DPDK could not start.
  struct Folder {
    ~Folder();
    std::string path;
  };
  Folder folder_;
};

// Creates a virtual device, or attaches another one, by its name and arguments. Returns 0 or a
// negative error number.
[[nodiscard]] int probe(const std::string& device);

// Returns whether the free huge pages of one size hold this much memory. root: /sys, except in
// tests.
[[nodiscard]] bool enough_huge_pages(std::size_t memory_mb, const std::string& root = "/sys");

}  // namespace natxy::plumbing
