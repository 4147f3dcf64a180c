// The names of the enumerators in JSON, in the order of the enumerators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plumbing/json_value.hpp"
#include "spec/event.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

using plumbing::Names;

inline const Names<Direction> kDirections = {{"forward", Direction::kForward},
                                             {"reverse", Direction::kReverse}};
inline const Names<Side> kSides = {{"left", Side::kLeft}, {"right", Side::kRight}};
inline const Names<Kind> kKinds = {{"foreground", Kind::kForeground},
                                   {"background", Kind::kBackground}};
inline const Names<SeriesMode> kModes = {{"fixed", SeriesMode::kFixed},
                                         {"increasing", SeriesMode::kIncreasing},
                                         {"decreasing", SeriesMode::kDecreasing},
                                         {"pseudorandom", SeriesMode::kPseudorandom}};
inline const Names<Selection> kSelections = {
    {"independent", Selection::kIndependent},
    {"enumerate-increasing", Selection::kEnumerateIncreasing},
    {"enumerate-decreasing", Selection::kEnumerateDecreasing},
    {"enumerate-pseudorandom", Selection::kEnumeratePseudorandom}};
inline const Names<ExtensionHeader> kExtensionHeaders = {
    {"hop-by-hop", ExtensionHeader::kHopByHop},
    {"destination-options", ExtensionHeader::kDestinationOptions},
    {"routing", ExtensionHeader::kRouting}};
inline const Names<const Encapsulation*> kEncapsulationNames = [] {
  Names<const Encapsulation*> names;
  for (const auto& encapsulation : encapsulations())
    names.emplace_back(encapsulation.name, &encapsulation);
  return names;
}();
inline const Names<std::uint16_t> kTagTypes = {{"802.1Q", 0x8100}, {"802.1ad", 0x88a8}};
inline const Names<Role> kRoles = {
    {"establish", Role::kEstablish}, {"initiate", Role::kInitiate}, {"respond", Role::kRespond}};
inline const Names<Transport> kTransports = {{"udp", Transport::kUdp}, {"tcp", Transport::kTcp}};
inline const Names<TcpSegment> kTcpSegments = {{"syn", TcpSegment::kSyn},
                                               {"ack", TcpSegment::kAck},
                                               {"fin", TcpSegment::kFin},
                                               {"last-ack", TcpSegment::kLastAck},
                                               {"rst", TcpSegment::kRst}};
inline const Names<Order> kOrders = {{"linear", Order::kLinear},
                                     {"fixed", Order::kFixed},
                                     {"increasing", Order::kIncreasing},
                                     {"decreasing", Order::kDecreasing},
                                     {"pseudorandom", Order::kPseudorandom},
                                     {"missing", Order::kMissing},
                                     {"repeating", Order::kRepeating}};
inline const Names<WarmUpMode> kWarmUpModes = {{"probes", WarmUpMode::kProbes},
                                               {"neighbours", WarmUpMode::kNeighbours}};
inline const Names<ReasonCode> kReasonCodes = {
    {"link_down", ReasonCode::kLinkDown},
    {"link_fell", ReasonCode::kLinkFell},
    {"rx_errors", ReasonCode::kRxErrors},
    {"clock_error", ReasonCode::kClockError},
    {"unstamped", ReasonCode::kUnstamped},
    {"implausible_stamps", ReasonCode::kImplausibleStamps},
    {"port_refused", ReasonCode::kPortRefused},
    {"rx_missed", ReasonCode::kRxMissed},
    {"rx_no_buffer", ReasonCode::kRxNoBuffer},
    {"tx_errors", ReasonCode::kTxErrors},
    {"kernel_rx_dropped", ReasonCode::kKernelRxDropped},
    {"records_lost", ReasonCode::kRecordsLost},
    {"left_late", ReasonCode::kLeftLate},
    {"gave_up_late", ReasonCode::kGaveUpLate},
    {"gave_up_paused", ReasonCode::kGaveUpPaused},
    {"ring_full", ReasonCode::kRingFull},
    {"two_queues", ReasonCode::kTwoQueues},
    {"too_many_addresses", ReasonCode::kTooManyAddresses}};
inline const Names<Stage> kStages = {{"table", Stage::kTable},
                                     {"neighbours", Stage::kNeighbours},
                                     {"warm-up", Stage::kWarmUp},
                                     {"sending", Stage::kSending},
                                     {"draining", Stage::kDraining}};
inline const Names<PauseReason> kPauseReasons = {{"core", PauseReason::kCore},
                                                 {"port", PauseReason::kPort}};
inline const Names<Refusal> kRefusals = {{"tester", Refusal::kTester},
                                         {"gateway", Refusal::kGateway}};
inline const Names<ErrorKind> kErrorKinds = {
    {"request", ErrorKind::kRequest},     {"spec", ErrorKind::kSpec},
    {"device", ErrorKind::kDevice},       {"driver", ErrorKind::kDriver},
    {"neighbour", ErrorKind::kNeighbour}, {"warm-up", ErrorKind::kWarmUp},
    {"cancelled", ErrorKind::kCancelled}, {"internal", ErrorKind::kInternal}};

// Return the names of the enumerations that events contain.
inline const Names<Direction>& names_of(Direction) {
  return kDirections;
}
inline const Names<Side>& names_of(Side) {
  return kSides;
}
inline const Names<ReasonCode>& names_of(ReasonCode) {
  return kReasonCodes;
}
inline const Names<Stage>& names_of(Stage) {
  return kStages;
}
inline const Names<PauseReason>& names_of(PauseReason) {
  return kPauseReasons;
}
inline const Names<Refusal>& names_of(Refusal) {
  return kRefusals;
}
inline const Names<ErrorKind>& names_of(ErrorKind) {
  return kErrorKinds;
}

template <typename Enum>
concept Named = requires(Enum value) { names_of(value); };

template <typename Enum>
const std::string& name_of(const Names<Enum>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value)).first;
}

}  // namespace natxy::spec
