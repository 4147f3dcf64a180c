#include "run/schedule.hpp"

#include <algorithm>

namespace natxy::run {

Schedule::Schedule(const std::vector<spec::Segment>& segments, TickRate ticks) {
  for (const auto& segment : segments) {
    if (segment.frames > 0) {
      const Period period(segment.rate_fps, ticks);
      const bool steady = segment.burst_frames == 1;
      const auto end = frames_ + segment.frames;
      const auto burst = steady ? segment.frames : segment.burst_frames;
      parts_.push_back({.first = frames_,
                        .end = end,
                        .steady_end = steady ? end : 0,
                        .burst = burst,
                        .start = end_,
                        .period = period,
                        .burst_period = steady ? period : Period(segment.burst_rate_fps, ticks),
                        .by_burst = flow::Divider(segment.burst_frames)});
      if (!steady) {
        shortest_burst_ = std::min(shortest_burst_, burst);
        longest_burst_ = std::max(longest_burst_, burst);
      }
      frames_ += segment.frames;
      end_ += period.at(segment.frames);
      max_rate_fps_ = std::max(max_rate_fps_, segment.rate_fps);
    }
    end_ += ticks.from_ns(segment.pause_ns);
  }
}

}  // namespace natxy::run
