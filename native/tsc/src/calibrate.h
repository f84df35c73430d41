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

// One pair for each CPU the calling thread may run on, each taken by a thread pinned there. A CPU that cannot be pinned is
// left out. None at all when a pinned thread reads the id of another CPU: then the ids are not the kernel's (a hypervisor
// that keeps something else in IA32_TSC_AUX), and no reading can be told apart by them.
std::vector<Pair> TakePairPerCpu();

}  // namespace spanline
