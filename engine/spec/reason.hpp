// Why a trial is invalid.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace natxy::spec {

// The sentence of each, and what helps, are the package's (natxy/model/reason.py).
enum class ReasonCode : std::uint8_t {
  kLinkDown,
  kLinkFell,
  kRxErrors,
  kClockError,
  kUnstamped,
  kImplausibleStamps,
  kPortRefused,
  kRxMissed,
  kRxNoBuffer,
  kTxErrors,
  kKernelRxDropped,
  kRecordsLost,
  kLeftLate,
  kGaveUpLate,
  kGaveUpPaused,
  kRingFull,
  kTwoQueues,
  kTooManyAddresses,
};

struct Reason {
  ReasonCode code = ReasonCode::kLinkDown;
  std::string where;                    // the name of a direction, or of the port's side
  std::map<std::string, double> facts;  // by names that end in their unit
};

}  // namespace natxy::spec
