// The share of a stream's numbers that one sender sends.
#pragma once

namespace natxy::run {

struct Share {  // index, index + count, ...
  unsigned index = 0;
  unsigned count = 1;
};

}  // namespace natxy::run
