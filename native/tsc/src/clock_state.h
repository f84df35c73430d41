// The process-wide clock: which source is read, the per-core offsets, and the one function everything is about, Now().
// Shared by all threads. Now() must never allocate, lock or call JavaScript.
#pragma once

#include <cstdint>
#include <vector>

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

// One core as calibrated: how far its counter is ahead of the first core's, and the bound of that, in ticks.
struct CoreOffset {
  uint32_t cpu;
  int64_t ticks;
  int64_t error;
};

// A line that turns CLOCK_MONOTONIC, counted from the anchor, into ticks.
struct Line {
  int64_t mono_ns;
  int64_t ticks;
  double ns_per_tick;
};

// Put a calibration in force for all threads; `line` runs through the raw ticks of the first core. The first calibration
// starts the clock; a later one is moved onto the clock that runs, whichever cores it knows, because spans are open.
// Refused when the process has given tsc-percpu up.
void Publish(const std::vector<CoreOffset>& cores, const Line& line);

// When that was last, in CLOCK_MONOTONIC counted from the anchor; -1 before the first.
int64_t PublishedAt();

// The offsets in force.
std::vector<CoreOffset> Offsets();

// Serve CLOCK_MONOTONIC from now on, unless some thread has published a calibration. Gives the source in force.
Source GiveUpTsc();

// Ticks of the clock at a raw reading of this CPU; by the line where the CPU is unknown.
int64_t ToClock(uint32_t cpu, uint64_t raw_ticks, uint64_t mono_ns);

// Pretend that the counter of this CPU is ahead by so many ticks. For tests: calibration must find it again.
void InjectOffset(uint32_t cpu, int64_t ticks);
int64_t InjectedOffset(uint32_t cpu);

uint64_t UnknownCpuReadings();

// The anchor: what ticks and CLOCK_MONOTONIC are counted from on their way to JavaScript, so that a double holds them
// exactly, however long the machine is up.
uint64_t BaseTicks();
uint64_t BaseMonoNs();

}  // namespace spanline
