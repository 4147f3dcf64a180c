#include "run/schedule.hpp"

#include <algorithm>

namespace natxy::run {

Schedule::Schedule(const std::vector<spec::Segment>& segments, TickRate ticks) {
  for (const auto& segment : segments) {
    if (segment.frames > 0) {
      const Period period(segment.rate_fps, ticks);
      parts_.push_back(
          {.first = frames_, .end = frames_ + segment.frames, .start = end_, .period = period});
      frames_ += segment.frames;
      end_ += period.at(segment.frames);
      max_rate_fps_ = std::max(max_rate_fps_, segment.rate_fps);
    }
    end_ += ticks.from_ns(segment.pause_ns);
  }
}

}  // namespace natxy::run
