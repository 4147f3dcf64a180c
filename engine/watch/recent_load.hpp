// How busy a gateway keeps a CPU, from the looks at it.
#pragma once

#include "watch/absences.hpp"

namespace natxy::watch {

// Whether the gateway leaves others so little of a CPU that the kernel will take some for them.
class RecentLoad {
 public:
  void add(Found found) {
    if (found == Found::kForeign) return;
    others_ += found == Found::kOther ? 1 : 0;
    if (++looks_ < kLooks) return;
    busy_ = others_ * 100 < kLooks * kPercent;
    looks_ = others_ = 0;
  }
  // In the last kLooks that are whole.
  [[nodiscard]] bool busy() const { return busy_; }

  static constexpr unsigned kLooks = 1000;  // 0.1 s; the kernel waits for 0.95 s
  static constexpr unsigned kPercent = 30;  // the kernel wants 5, by a count of its own

 private:
  unsigned looks_ = 0;
  unsigned others_ = 0;
  bool busy_ = false;
};

}  // namespace natxy::watch
