#include "run/icmp_tally.hpp"

#include <arpa/inet.h>

#include "run/words.hpp"

namespace natxy::run {
namespace {

std::string text_of(const frame::IcmpError& error) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = error.ip_version == spec::IpVersion::k4 ? AF_INET : AF_INET6;
  inet_ntop(family, error.source.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

void IcmpTally::merge(const IcmpTally& other) {
  unlisted_ += other.unlisted_;
  of_others_ += other.of_others_;
  for (const auto& theirs : other.sorts_) {
    if (auto* ours = find(theirs.error)) {
      ours->count += theirs.count;
    } else if (sorts_.size() < kSorts) {
      sorts_.push_back(theirs);
    } else {
      unlisted_ += theirs.count;
    }
  }
}

spec::IcmpErrors IcmpTally::result() const {
  spec::IcmpErrors errors{.listed = {}, .unlisted = unlisted_, .of_others = of_others_};
  for (const auto& [error, count, example] : sorts_) {
    errors.listed.push_back({.ip_version = error.ip_version,
                             .type = error.type,
                             .code = error.code,
                             .mtu = error.mtu,
                             .source = text_of(error),
                             .count = count,
                             .example_hex = hex(example)});
  }
  return errors;
}

}  // namespace natxy::run
