#include "record_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace natxy {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they stand");

// A record on the pipe: 32 octets, little-endian.
struct WireRecord {
  std::uint64_t number;
  double departure_ns;
  double delay_ns;
  std::uint8_t phase;
  std::uint8_t direction;
  std::uint8_t kind;
  std::uint8_t status;
  std::uint32_t nonce;
};
static_assert(sizeof(WireRecord) == 32);

WireRecord on_the_wire(const run::FrameRecord& record, run::TickRate ticks) {
  return {.number = record.number,
          .departure_ns = ticks.to_ns(static_cast<double>(record.departure)),
          .delay_ns = ticks.to_ns(static_cast<double>(record.delay)),
          .phase = record.phase,
          .direction = static_cast<std::uint8_t>(record.direction),
          .kind = static_cast<std::uint8_t>(record.kind),
          .status = static_cast<std::uint8_t>(record.status),
          .nonce = record.nonce};
}

}  // namespace

bool is_writable(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

RecordWriter::RecordWriter(int descriptor, run::TickRate ticks)
    : descriptor_(descriptor), ticks_(ticks), thread_([this] { empty_rings(); }) {}

RecordWriter::~RecordWriter() {
  stopping_.store(true);
  thread_.join();
}

void RecordWriter::empty_rings() {
  while (!stopping_.load()) {
    std::size_t taken = 0;
    for (auto& ring : rings_.by_side) {
      taken +=
          ring.take([this](const run::FrameRecord* records, std::size_t n) { write(records, n); });
    }
    if (taken == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void RecordWriter::write(const run::FrameRecord* records, std::size_t n) {
  if (rings_.abandoned.load()) return;
  octets_.resize(n * sizeof(WireRecord));
  for (std::size_t i = 0; i < n; ++i) {
    const auto wire = on_the_wire(records[i], ticks_);
    std::memcpy(&octets_[i * sizeof wire], &wire, sizeof wire);
  }
  for (std::size_t written = 0; written < octets_.size();) {
    const auto count = ::write(descriptor_, &octets_[written], octets_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return rings_.abandoned.store(true);
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace natxy
