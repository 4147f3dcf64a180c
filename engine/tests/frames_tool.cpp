// natxy-engine-frames: shows what the engine's loops send and how they judge frames that arrive,
// without ports, for tests in any language.
//
// Standard input: requests, each ended by an empty line. A request is a line `FRAMES FIRST PHASE`,
// a trial spec as one line of JSON, and lines `SIDE HEX` with frames that arrive there in this
// phase (0: the first one). All connections exist and have answered, and the gateway has changed
// neither address nor port of them. Standard output: for each stream, a line `PHASE DIRECTION
// NUMBER KIND ORDINAL HEX` for each of FRAMES frames from number FIRST on, sent when it is due;
// then, for each frame that arrived, a line with the counter that it increased; then an empty line.
// The tester's MAC addresses are 02:00:00:00:00:01 (left) and 02:00:00:00:00:02, the gateway's
// 02:00:00:00:00:0a and 02:00:00:00:00:0b. A request that is wrong ends the program.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fake_port.hpp"
#include "run/trial.hpp"
#include "run/words.hpp"
#include "spec/json.hpp"
#include "spec/validate.hpp"

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
      table_.learn(i, run::Entry(address_of(traffic), flow.at<kAll>(i).source_port));
      table_.mark_answered(i);
    }
  }
  [[nodiscard]] const spec::Stream* establishing() const { return establishing_; }
  [[nodiscard]] run::StateTable* table() { return &table_; }

 private:
  static constexpr flow::Shape kAll{.addresses_vary = true, .enumerated = true};

  std::uint32_t address_of(const spec::Traffic& traffic) {
    const auto* octets = traffic.arrival.source.octets.data();
    if (traffic.arrival.ip_version == spec::IpVersion::k6) {
      return table_.addresses().number_of(octets);
    }
    return frame::load<std::uint32_t>(octets);
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

struct Request {
  Range range;
  std::string spec;
  std::vector<std::pair<bool, Octets>> arrivals;  // whether on the left; the frame
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
  }
  std::string verdict(const Octets& octets) override {
    const auto before = counters(receiver_.so_far());
    wire_.put(octets);
    receiver_.step(FakeClock::time);
    const auto after = counters(receiver_.so_far());
    std::string moved;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto was = i < before.size() ? before[i].second : 0;
      if (after[i].second != was) moved += (moved.empty() ? "" : " ") + after[i].first;
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

void judge_arrivals(const std::vector<run::StreamPlan>& plans, const Request& request) {
  std::array<std::unique_ptr<AnyJudge>, 2> judges;  // by Side
  for (const auto& plan : plans) {
    run::SentHere sent_here{};
    for (const auto& other : plans) {
      if (other.from() == plan.to()) sent_here = other.quotations();
    }
    judges[static_cast<std::size_t>(plan.to())] = judge_of(plan, sent_here);
  }
  for (const auto& [left, octets] : request.arrivals) {
    const auto& judge = judges[left ? 0 : 1];
    std::cout << (judge ? judge->verdict(octets) : "nothing is due there") << '\n';
  }
}

// Reads a whole request before it is answered: whoever writes it need not read at the same time.
// Returns whether there was one.
bool read(Request& request) {
  request = {};
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  auto& range = request.range;
  if (!(std::istringstream(line) >> range.frames >> range.first >> range.phase)) {
    throw std::runtime_error("`" + line + "` is no request (expected FRAMES FIRST PHASE)");
  }
  std::getline(std::cin, request.spec);
  while (std::getline(std::cin, line)) {
    if (line.empty()) return true;
    const auto side = line.substr(0, line.find(' '));
    request.arrivals.emplace_back(side == "left", from_hex(line.substr(side.size() + 1)));
  }
  throw std::runtime_error("the request has no end (expected an empty line)");
}

void answer(const Request& request) {
  FakeClock::time = 0;
  const auto spec = spec::parse_spec(request.spec);
  KnownConnections connections(spec);
  std::vector<run::StreamPlan> arriving;
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    for (const auto& stream : spec.phases[i].streams) {
      const auto plan = plan_of(spec, i, stream, connections);
      print_stream(spec.phases[i].name, plan, request.range);
      if (i == request.range.phase) arriving.push_back(plan);
    }
  }
  judge_arrivals(arriving, request);
  std::cout << std::endl;
}

}  // namespace
}  // namespace natxy::tests

int main() {
  try {
    for (natxy::tests::Request request; natxy::tests::read(request);) {
      natxy::tests::answer(request);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "natxy-engine-frames: " << error.what() << '\n';
    return 2;
  }
}
