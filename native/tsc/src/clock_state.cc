// See clock_state.h.
#if defined(__GNUC__) && !defined(__clang__)
// The rest of the addon is compiled for size; Now() is what a span costs.
#pragma GCC optimize("O2")
#endif

#include "clock_state.h"

#include <atomic>
#include <mutex>

#include "shared_line.h"
#include "ticks.h"

namespace spanline {
namespace {

struct Cpu {
  std::atomic<int64_t> offset{0};
  std::atomic<int64_t> injected{0};
  std::atomic<int64_t> error{0};
  std::atomic<bool> known{false};
};

// A little in the past, so that no reading is 0: the recorder keeps 0 for "still open".
constexpr uint64_t kHeadStart = 1000;

// Held by whoever changes the clock; never by who reads it.
std::mutex changing;
bool claimed = false;
std::atomic<int> source{static_cast<int>(Source::kMonotonic)};
std::atomic<uint64_t> base_ticks{0};
std::atomic<uint64_t> base_mono_ns{0};
std::atomic<int64_t> published_at{-1};
std::atomic<uint64_t> unknown_cpu_readings{0};
SharedLine fallback;
Cpu cpus[kMaxCpus];

int64_t TicksOn(const Line& line, uint64_t mono_ns) {
  const auto since = static_cast<int64_t>(mono_ns - base_mono_ns.load(std::memory_order_relaxed)) - line.mono_ns;
  return line.ticks + static_cast<int64_t>(static_cast<double>(since) / line.ns_per_tick);
}

int64_t FromAnchor(uint64_t raw_ticks) {
  return static_cast<int64_t>(raw_ticks - base_ticks.load(std::memory_order_relaxed));
}

// What to add to the offsets of a calibration, which are against its own first core, to have them against the clock.
int64_t FrameOf(const std::vector<CoreOffset>& cores, const Line& line) {
  if (published_at.load() < 0) return line.ticks - static_cast<int64_t>(kHeadStart);
  for (const CoreOffset& core : cores) {
    if (cpus[core.cpu].known.load()) return cpus[core.cpu].offset.load() - core.ticks;
  }
  // Not one core in common (a cpuset that moved as a whole): CLOCK_MONOTONIC bridges.
  return line.ticks - TicksOn(fallback.Load(), base_mono_ns.load() + static_cast<uint64_t>(line.mono_ns));
}

#if defined(__x86_64__)
// Two cores agree only within the error bound of their offsets; a thread that moves between them must not see time go
// back, or a child would start before its parent.
thread_local double last_ticks = 0;

double NeverBack(int64_t exact) {
  const auto ticks = static_cast<double>(exact);
  if (ticks < last_ticks) return last_ticks;
  last_ticks = ticks;
  return ticks;
}

double PerCpuTicks() {
  const CpuTicks read = ReadTscp();
  const Cpu& cpu = cpus[read.cpu];
  if (!cpu.known.load(std::memory_order_acquire)) {
    unknown_cpu_readings.fetch_add(1, std::memory_order_relaxed);
    return NeverBack(TicksOn(fallback.Load(), ReadMonotonicNs()));
  }
  const int64_t shift = cpu.injected.load(std::memory_order_relaxed) - cpu.offset.load(std::memory_order_relaxed);
  return NeverBack(FromAnchor(read.ticks + static_cast<uint64_t>(shift)));
}
#endif

}  // namespace

double Now() {
  switch (CurrentSource()) {
#if defined(__x86_64__)
    case Source::kTscPerCpu:
      return PerCpuTicks();
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    case Source::kTsc:
    case Source::kCntvct:
      return static_cast<double>(FromAnchor(ReadTsc()));
#endif
    default:
      return static_cast<double>(FromAnchor(ReadMonotonicNs()));
  }
}

uint64_t RawTicks() {
#if defined(__x86_64__) || defined(__aarch64__)
  if (CurrentSource() != Source::kMonotonic) return ReadTsc();
#endif
  return ReadMonotonicNs();
}

Source ClaimSource(Source wanted) {
  std::lock_guard<std::mutex> lock(changing);
  if (!claimed) {
    claimed = true;
    source.store(static_cast<int>(wanted));
    base_ticks.store(RawTicks() - kHeadStart);
    base_mono_ns.store(ReadMonotonicNs());
  }
  return CurrentSource();
}

Source CurrentSource() { return static_cast<Source>(source.load(std::memory_order_relaxed)); }

void Publish(const std::vector<CoreOffset>& cores, const Line& line) {
  std::lock_guard<std::mutex> lock(changing);
  if (CurrentSource() != Source::kTscPerCpu) return;
  const int64_t frame = FrameOf(cores, line);
  fallback.Store({line.mono_ns, line.ticks - frame, line.ns_per_tick});
  for (const CoreOffset& core : cores) {
    Cpu& cpu = cpus[core.cpu];
    cpu.offset.store(core.ticks + frame);
    cpu.error.store(core.error);
    cpu.known.store(true, std::memory_order_release);
  }
  published_at.store(line.mono_ns);
}

int64_t PublishedAt() { return published_at.load(); }

std::vector<CoreOffset> Offsets() {
  std::lock_guard<std::mutex> lock(changing);
  std::vector<CoreOffset> found;
  for (uint32_t cpu = 0; cpu < kMaxCpus; cpu++) {
    if (cpus[cpu].known.load()) found.push_back({cpu, cpus[cpu].offset.load(), cpus[cpu].error.load()});
  }
  return found;
}

Source GiveUpTsc() {
  std::lock_guard<std::mutex> lock(changing);
  // Nobody reads the clock yet: a thread hands it out after it has published, or after this.
  if (CurrentSource() == Source::kTscPerCpu && published_at.load() < 0) {
    base_ticks.store(ReadMonotonicNs() - kHeadStart);
    source.store(static_cast<int>(Source::kMonotonic));
  }
  return CurrentSource();
}

int64_t ToClock(uint32_t cpu, uint64_t raw_ticks, uint64_t mono_ns) {
  if (CurrentSource() != Source::kTscPerCpu) return FromAnchor(raw_ticks);
  if (cpu >= kMaxCpus || !cpus[cpu].known.load()) return TicksOn(fallback.Load(), mono_ns);
  return FromAnchor(raw_ticks) - cpus[cpu].offset.load();
}

void InjectOffset(uint32_t cpu, int64_t ticks) {
  if (cpu < kMaxCpus) cpus[cpu].injected.store(ticks);
}

int64_t InjectedOffset(uint32_t cpu) { return cpu < kMaxCpus ? cpus[cpu].injected.load() : 0; }

uint64_t UnknownCpuReadings() { return unknown_cpu_readings.load(); }

uint64_t BaseTicks() { return base_ticks.load(); }

uint64_t BaseMonoNs() { return base_mono_ns.load(); }

}  // namespace spanline
