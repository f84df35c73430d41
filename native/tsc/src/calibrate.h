// Pairs of (CLOCK_MONOTONIC, ticks), the raw material of rates and offsets. Pins only threads of its own: the caller's
// affinity is never changed.
#pragma once

#include <cstdint>
#include <vector>

namespace spanline {

struct Pair {
  uint32_t cpu;
  uint64_t raw_ticks;  // of the counter, not counted from the anchor; injected offsets included
  uint64_t mono_ns;
  uint64_t bracket;  // ticks between the two reads around the clock: the pair is exact within half of it
};

// The tightest of some tries on the calling thread: a preempted try has a wide bracket and loses.
Pair TakePair();

// One pair for each CPU the process may run on, each taken by a thread pinned there. A CPU that cannot be pinned, or whose
// reading names another CPU, is left out.
std::vector<Pair> TakePairPerCpu();

}  // namespace spanline
