// Counts the ICMP errors that arrive at one port, by their content, in bounded memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "frame/icmp_error.hpp"
#include "spec/port_result.hpp"

namespace natxy::run {

// The traffic that a port sends, by kind; null: none.
using SentHere = std::array<const frame::Quotation*, 2>;

struct IcmpSort {
  frame::IcmpError error;  // the first one of this sort; its quotation is in the example
  std::uint64_t count = 0;
  std::vector<std::uint8_t> example;

  [[nodiscard]] bool alike(const frame::IcmpError& other) const {
    return error.ip_version == other.ip_version && error.type == other.type &&
           error.code == other.code && error.mtu == other.mtu && error.source == other.source;
  }
};

class IcmpTally {
 public:
  static constexpr std::size_t kSorts = 16;
  static constexpr std::size_t kExampleOctets = 128;

  // Counts the frame if it is an ICMP error.
  void look_at(const std::uint8_t* frame, std::uint32_t size, const SentHere& sent_here) {
    const auto error = frame::parse_icmp_error({frame, size});
    if (!error) return;
    const bool ours = std::ranges::any_of(sent_here, [&](const frame::Quotation* sent) {
      return sent != nullptr && sent->fits(*error);
    });
    if (!ours) {
      ++of_others_;
    } else if (auto* sort = find(*error)) {
      ++sort->count;
    } else {
      list(*error, frame, size);
    }
  }

  void merge(const IcmpTally& other);
  [[nodiscard]] spec::IcmpErrors result() const;

 private:
  [[nodiscard]] IcmpSort* find(const frame::IcmpError& error) {
    const auto found =
        std::ranges::find_if(sorts_, [&](const IcmpSort& sort) { return sort.alike(error); });
    return found == sorts_.end() ? nullptr : &*found;
  }
  void list(const frame::IcmpError& error, const std::uint8_t* frame, std::uint32_t size) {
    if (sorts_.size() == kSorts) {
      ++unlisted_;
      return;
    }
    const auto shown = std::min<std::size_t>(size, kExampleOctets);
    sorts_.push_back({.error = error, .count = 1, .example = {frame, frame + shown}});
    sorts_.back().error.quoted = {};  // the frame's buffer will be freed
  }

  std::vector<IcmpSort> sorts_;
  std::uint64_t unlisted_ = 0;
  std::uint64_t of_others_ = 0;
};

}  // namespace natxy::run
