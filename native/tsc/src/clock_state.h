// The process-wide clock: which source is read, the per-core offsets, and the one function everything is about, Now().
// Shared by all threads. Now() must never allocate, lock or call JavaScript.
#pragma once

#include <atomic>
#include <cstdint>

namespace spanline {

enum class Source : int { kMonotonic = 0, kTsc = 1, kTscPerCpu = 2, kCntvct = 3 };

constexpr uint32_t kMaxCpus = 4096;  // the width of the CPU id in IA32_TSC_AUX

// Ticks since the process anchor; exact below 2^53, which at 3 GHz is 34 days.
double Now();

// The counter of the current source, not counted from the anchor.
uint64_t RawTicks();

// Set the source and the anchor, once in a process: worker threads and a second copy of the library share both, and an
// anchor that moved would tear spans apart. Gives the source in force.
Source ClaimSource(Source wanted);
Source CurrentSource();

// Ticks to subtract on each CPU; `known` false sends readings on that CPU to the fallback.
void SetCpuOffset(uint32_t cpu, int64_t offset_ticks, bool known);

// The line that turns CLOCK_MONOTONIC into ticks where a CPU is unknown, and for good after DegradeToMonotonic().
void SetFallbackLine(uint64_t mono_ns, double ticks, double ns_per_tick);
void DegradeToMonotonic();

// Pretend that the counter of this CPU is ahead by so many ticks. For tests: calibration must find it again.
void InjectOffset(uint32_t cpu, int64_t ticks);
int64_t InjectedOffset(uint32_t cpu);

uint64_t UnknownCpuReadings();
uint64_t BaseTicks();

}  // namespace spanline
