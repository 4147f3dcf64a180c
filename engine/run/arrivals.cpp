#include "run/arrivals.hpp"

namespace natxy::run {

LossRuns Arrivals::losses(std::uint64_t frames) const {
  auto losses = losses_;
  const auto words = entered();
  for (auto word = settled(); word < words; ++word) {
    if (word * 64 < frames) losses.word(word * 64, merged(word), frames);
  }
  const auto rest = std::max(words, settled()) * 64;
  if (rest < frames) losses.missing(rest, frames - rest);
  return losses;
}

std::uint64_t Arrivals::shared() const {
  auto total = shared_;
  for (auto word = settled(); word < entered(); ++word) total += shared_in(word);
  return total;
}

std::uint64_t Arrivals::first_missing() {
  const std::lock_guard lock(settling_);
  if (losses_.count > 0) return losses_.first;
  complete_ = std::max(complete_, settled());
  const auto words = entered();
  while (complete_ < words && merged(complete_) == ~std::uint64_t{0}) ++complete_;
  if (complete_ >= words) return complete_ * 64;
  return complete_ * 64 + static_cast<unsigned>(std::countr_one(merged(complete_)));
}

std::uint64_t Arrivals::make_room(std::uint64_t word) {
  const std::lock_guard lock(settling_);
  if (word >= settled() + size_) settle(word + 1 - size_ + spare_);
  return settled() + size_;
}

std::uint64_t Arrivals::entered() const {
  std::uint64_t most = 0;
  for (const auto& window : windows_) most = std::max(most, window.entered());
  return most;
}

std::uint64_t Arrivals::merged(std::uint64_t word) const {
  std::uint64_t came = 0;
  for (const auto& window : windows_) came |= window.word(word);
  return came;
}

std::uint64_t Arrivals::shared_in(std::uint64_t word) const {
  std::uint64_t once = 0;
  std::uint64_t again = 0;
  for (const auto& window : windows_) {
    const auto came = window.word(word);
    again |= once & came;
    once |= came;
  }
  return static_cast<std::uint64_t>(std::popcount(again));
}

void Arrivals::settle(std::uint64_t end) {
  const auto begin = settled();
  const auto come = std::clamp(entered(), begin, end);
  for (auto word = begin; word < come; ++word) {
    losses_.word(word * 64, merged(word));
    if (receivers() > 1) shared_ += shared_in(word);
  }
  losses_.missing(come * 64, (end - come) * 64);  // the numbers leap: none of these has arrived
  settled_.store(end, std::memory_order_release);
}

std::uint64_t Window::make_room(std::uint64_t entered, std::uint64_t last) {
  room_ = arrivals_->make_room(last);
  return std::max(entered, arrivals_->settled());
}

}  // namespace natxy::run
