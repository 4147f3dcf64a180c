// natxy-engine-frames: shows what the engine's loops send and how they judge frames that arrive,
// without ports, for tests in any language.
//
// Standard input: lines that are answered at once. Unlike a program for each trial, one for all of
// them starts only once, and a test has thousands of trials.
//
//     trial FRAMES FIRST PHASE SPEC   for each stream of the trial spec, a line `PHASE DIRECTION
//                                     NUMBER KIND ORDINAL HEX` for each of FRAMES frames from
//                                     number FIRST on, sent when it is due; then an empty line
//     SIDE HEX                        for a frame that arrives there in phase PHASE (0: the first
//                                     one) of this trial, a line with the counter that it increased
//
// All connections exist and have answered, and the gateway has changed neither address nor port of
// them. The tester's MAC addresses are 02:00:00:00:00:01 (left) and 02:00:00:00:00:02, the
// gateway's 02:00:00:00:00:0a and 02:00:00:00:00:0b.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_port.hpp"
#include "run/trial.hpp"
#include "run/words.hpp"
#include "spec/json.hpp"
#include "spec/rules.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::tests {
namespace {

constexpr run::TickRate kTicks{1'000'000'000};
constexpr run::Ticks kStart = 1000;
using Octets = std::vector<std::uint8_t>;

std::string to_hex(const Octets& octets) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const auto octet : octets) {
    hex += kDigits[octet >> 4U];
    hex += kDigits[octet & 15U];
  }
  return hex;
}

Octets from_hex(const std::string& hex) {
  Octets octets;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

// The state table of a trial whose connections all exist and have answered, with the addresses and
// ports that they left with.
class KnownConnections {
 public:
  explicit KnownConnections(const spec::TrialSpec& spec)
      : establishing_(spec::establishing_stream(spec)) {
    if (establishing_ == nullptr) return;
    words_.resize(spec::connections_of(*establishing_));
    table_ = run::StateTable(words_.data(), words_.size(), 1);
    const auto& traffic = *establishing_->foreground;
    if (traffic.arrival.ip_version == spec::IpVersion::k6) table_.addresses().prepare();
    const auto direction = static_cast<std::uint64_t>(establishing_->direction);
    const flow::Flow flow(traffic, flow::derive(spec.seed, 2 * direction));
    for (std::uint64_t i = 0; i < words_.size(); ++i) {
      const auto values = flow.at<kAll>(i);
      table_.learn(i, run::Entry(address_of(traffic, values.source_field), values.source_port));
      table_.mark_answered(i);
    }
  }
  [[nodiscard]] const spec::Stream* establishing() const { return establishing_; }
  [[nodiscard]] run::StateTable* table() { return &table_; }

 private:
  static constexpr flow::Shape kAll{.addresses_vary = true, .enumerated = true};

  std::uint32_t address_of(const spec::Traffic& traffic, std::uint32_t field) {
    const auto& pattern = traffic.arrival.source;
    auto octets = pattern.octets;
    spec::put_field(octets.data(), pattern.field, field);
    if (traffic.arrival.ip_version == spec::IpVersion::k6) {
      return table_.addresses().number_of(octets.data());
    }
    return frame::load<std::uint32_t>(octets.data());
  }

  const spec::Stream* establishing_;
  std::vector<std::uint64_t> words_;
  run::StateTable table_;
};

run::StreamPlan plan_of(const spec::TrialSpec& spec, std::size_t phase, const spec::Stream& stream,
                        KnownConnections& connections) {
  const auto link_of = [&spec](spec::Side side) {
    const auto index = static_cast<std::uint8_t>(side);
    return frame::Link{.source = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(1 + index)},
                       .destination = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(0x0a + index)},
                       .vlans = spec.sides[index].vlans};
  };
  const auto link = link_of(spec::from_side(stream.direction));
  return run::compile(stream, {.seed = spec.seed,
                               .nonce = spec.nonce,
                               .phase = phase,
                               .ticks = kTicks,
                               .links = {link, link},
                               .far_link = link_of(spec::to_side(stream.direction)),
                               .establishing = connections.establishing(),
                               .table = connections.table()});
}

struct Range {
  std::uint64_t frames = 0;
  std::uint32_t first = 0;
  std::size_t phase = 0;  // of the frames that arrive
};

// Collects the sender's frames. Before each step, the clock is set to the next due time.
template <flow::Shape kShape>
std::vector<Octets> sent_frames(const run::StreamPlan& plan, const Range& range) {
  Wire wire;
  FakeTxQueue queue(wire);
  for (unsigned kind = 0; kind < 2; ++kind) queue.fill(kind, plan.kinds[kind].departure.octets());
  const std::atomic<bool> go_on{false};
  run::Control control(1, 0, go_on);
  run::Sender<kShape, FakeClock, FakeTxQueue> sender(plan, {.index = range.first, .count = 1},
                                                     queue, control);
  sender.begin(kStart);
  std::vector<Octets> frames;
  while (frames.size() < range.frames && !control.draining()) {
    FakeClock::time = kStart + plan.schedule.due(range.first + frames.size());
    sender.step(FakeClock::time);
    for (Octets octets; wire.take(octets);) frames.push_back(octets);
  }
  frames.resize(std::min<std::size_t>(frames.size(), range.frames));
  return frames;
}

void print_stream(const std::string& phase, const run::StreamPlan& plan, const Range& range) {
  const auto frames = run::dispatch(
      plan.shape(), [&]<flow::Shape kShape>() { return sent_frames<kShape>(plan, range); });
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto number = range.first + i;
    const auto place = plan.mix.at(number);
    std::cout << phase << ' ' << run::words(plan.direction) << ' ' << number << ' '
              << run::words(place.kind) << ' ' << place.ordinal << ' ' << to_hex(frames[i]) << '\n';
  }
}

using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

// Sorts that occur for the first time are added after the others.
void append_icmp(const spec::IcmpErrors& icmp, Counters& all) {
  all.emplace_back("icmp_unlisted", icmp.unlisted);
  all.emplace_back("icmp_of_others", icmp.of_others);
  for (const auto& sort : icmp.listed) {
    all.emplace_back("icmp " + std::to_string(sort.type) + "/" + std::to_string(sort.code) +
                         " mtu " + std::to_string(sort.mtu) + " from " + sort.source,
                     sort.count);
  }
}

Counters counters(const run::ReceiverReport& report) {
  static constexpr const char* kDefects[] = {"none",     "malformed", "checksum",      "number",
                                             "length",   "tunnel",    "address",       "port",
                                             "sequence", "hop_limit", "traffic_class", "header"};
  static_assert(std::size(kDefects) == frame::kDefects);
  Counters all{{"foreign", report.foreign}, {"neighbour", report.neighbour}};
  for (const auto& kind : report.kinds) {
    all.emplace_back("received", kind.received);
    all.emplace_back("without_udp_checksum", kind.without_udp_checksum);
    all.emplace_back("duplicated", kind.duplicated);
    all.emplace_back("late", kind.late);
    for (std::size_t i = 0; i < kind.defects.size(); ++i) {
      all.emplace_back(kDefects[i], kind.defects[i]);
    }
  }
  append_icmp(report.icmp.result(), all);
  return all;
}

class AnyJudge {
 public:
  virtual ~AnyJudge() = default;
  virtual std::string verdict(const Octets& octets) = 0;
};

// The receiver of one side, as a phase makes it.
template <flow::Shape kShape>
class Judge : public AnyJudge {
 public:
  Judge(const run::StreamPlan& plan, const run::SentHere& sent_here)
      : queue_(wire_),
        arrivals_(std::min<std::uint64_t>(plan.schedule.frames(), 1U << 16U)),
        receiver_(&plan, setup(plan, sent_here, arrivals_), queue_) {
    receiver_.begin(kStart);
    counted_ = counters(receiver_.so_far());
  }
  std::string verdict(const Octets& octets) override {
    wire_.put(octets);
    receiver_.step(FakeClock::time);
    const auto before = std::exchange(counted_, counters(receiver_.so_far()));
    std::string moved;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      const auto was = i < before.size() ? before[i].second : 0;
      if (counted_[i].second != was) moved += (moved.empty() ? "" : " ") + counted_[i].first;
    }
    return moved.empty() ? "nothing" : moved;
  }

 private:
  static run::ReceiverSetup setup(const run::StreamPlan& plan, const run::SentHere& sent_here,
                                  run::Arrivals& arrivals) {
    return {
        .tag = plan.tag,
        .sent_here = sent_here,
        .arrivals = &arrivals,
        .hop_limits = {{{.inner = plan.kinds[0].hop_limit}, {.inner = plan.kinds[1].hop_limit}}}};
  }
  Wire wire_;
  FakeRxQueue queue_;
  run::Arrivals arrivals_;
  run::Receiver<kShape, FakeClock, FakeRxQueue> receiver_;
  Counters counted_;
};

std::unique_ptr<AnyJudge> judge_of(const run::StreamPlan& plan, const run::SentHere& sent_here) {
  using flow::Shape;
  if (plan.shape().tcp) {
    constexpr Shape kTcp{
        .addresses_vary = true, .enumerated = true, .connected = true, .tcp = true};
    return std::make_unique<Judge<kTcp>>(plan, sent_here);
  }
  constexpr Shape kStateless{.addresses_vary = true, .enumerated = true};
  return std::make_unique<Judge<kStateless>>(plan, sent_here);
}

// Prints the frames of a trial, and judges those that arrive in one of its phases.
class ShownTrial {
 public:
  ShownTrial(const std::string& spec, const Range& range)
      : spec_(spec::parse_spec(spec)), connections_(spec_) {
    for (std::size_t i = 0; i < spec_.phases.size(); ++i) {
      for (const auto& stream : spec_.phases[i].streams) {
        const auto plan = plan_of(spec_, i, stream, connections_);
        if (range.frames > 0) print_stream(spec_.phases[i].name, plan, range);
        if (i == range.phase) arriving_.push_back(plan);
      }
    }
  }
  std::string verdict(spec::Side side, const Octets& octets) {
    auto& judge = judges_[static_cast<std::size_t>(side)];
    for (const auto& plan : arriving_) {
      if (!judge && plan.to() == side) judge = judge_of(plan, sent_at(plan));
    }
    return judge ? judge->verdict(octets) : "nothing is due there";
  }

 private:
  // Returns what leaves on the side where the frames of this plan arrive.
  [[nodiscard]] run::SentHere sent_at(const run::StreamPlan& plan) const {
    for (const auto& other : arriving_) {
      if (other.from() == plan.to()) return other.quotations();
    }
    return {};
  }
  spec::TrialSpec spec_;
  KnownConnections connections_;
  std::vector<run::StreamPlan> arriving_;
  std::array<std::unique_ptr<AnyJudge>, 2> judges_;  // by Side; made when a frame arrives there
};

void answer_all() {
  std::unique_ptr<ShownTrial> trial;
  for (std::string word; std::cin >> word;) {
    std::string rest;
    if (word == "trial") {
      Range range;
      std::cin >> range.frames >> range.first >> range.phase;
      std::getline(std::cin, rest);
      trial = std::make_unique<ShownTrial>(rest, range);
      std::cout << '\n' << std::flush;
    } else {
      std::cin >> rest;
      const auto side = word == "left" ? spec::Side::kLeft : spec::Side::kRight;
      std::cout << trial->verdict(side, from_hex(rest)) << '\n' << std::flush;
    }
  }
}

}  // namespace
}  // namespace natxy::tests

int main() {
  try {
    natxy::tests::answer_all();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "natxy-engine-frames: " << error.what() << '\n';
    return 2;
  }
}
