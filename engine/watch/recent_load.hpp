// Measures how busy a gateway keeps a CPU, from the looks at it.
#pragma once

#include "watch/absences.hpp"

namespace natxy::watch {

// Determines whether the gateway leaves so little of a CPU to others that the kernel will reserve
// time for them.
class RecentLoad {
 public:
  void add(Found found) {
    if (found == Found::kForeign) return;
    others_ += found == Found::kGateway ? 0 : 1;
    if (++looks_ < kLooks) return;
    busy_ = others_ * 100 < kLooks * kPercent;
    looks_ = others_ = 0;
  }
  // Returns whether the gateway was busy during the last complete series of kLooks looks.
  [[nodiscard]] bool busy() const { return busy_; }

  static constexpr unsigned kLooks = 1000;  // 0.1 s; the kernel intervenes after 0.95 s
  static constexpr unsigned kPercent = 30;  // the kernel intervenes below 5, by its own measure

 private:
  unsigned looks_ = 0;
  unsigned others_ = 0;
  bool busy_ = false;
};

}  // namespace natxy::watch
