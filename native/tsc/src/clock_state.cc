// See clock_state.h.
#include "clock_state.h"

#include <mutex>

#include "ticks.h"

namespace spanline {
namespace {

struct Cpu {
  std::atomic<int64_t> offset{0};
  std::atomic<int64_t> injected{0};
  std::atomic<bool> known{false};
};

std::mutex claim;
bool claimed = false;
std::atomic<int> source{static_cast<int>(Source::kMonotonic)};
std::atomic<bool> degraded{false};
std::atomic<uint64_t> base_ticks{0};
std::atomic<uint64_t> unknown_cpu_readings{0};
std::atomic<uint64_t> fallback_mono_ns{0};
std::atomic<double> fallback_ticks{0};
std::atomic<double> fallback_ns_per_tick{1};
Cpu cpus[kMaxCpus];

double FallbackTicks() {
  const auto since = static_cast<double>(static_cast<int64_t>(ReadMonotonicNs() - fallback_mono_ns.load()));
  return fallback_ticks.load() + since / fallback_ns_per_tick.load();
}

#if defined(__x86_64__)
// Two cores agree only within the error bound of their offsets; a thread that moves between them must not see time go
// back, or a child would start before its parent.
thread_local double last_ticks = 0;

double NeverBack(double ticks) {
  if (ticks < last_ticks) return last_ticks;
  last_ticks = ticks;
  return ticks;
}

double PerCpuTicks() {
  const CpuTicks read = ReadTscp();
  const Cpu& cpu = cpus[read.cpu];
  if (degraded.load(std::memory_order_relaxed)) return NeverBack(FallbackTicks());
  if (!cpu.known.load(std::memory_order_relaxed)) {
    unknown_cpu_readings.fetch_add(1, std::memory_order_relaxed);
    return NeverBack(FallbackTicks());
  }
  const int64_t shift = cpu.injected.load(std::memory_order_relaxed) - cpu.offset.load(std::memory_order_relaxed);
  const uint64_t ticks = read.ticks - base_ticks.load(std::memory_order_relaxed) + static_cast<uint64_t>(shift);
  return NeverBack(static_cast<double>(static_cast<int64_t>(ticks)));
}
#endif

}  // namespace

double Now() {
  switch (static_cast<Source>(source.load(std::memory_order_relaxed))) {
#if defined(__x86_64__)
    case Source::kTscPerCpu:
      return PerCpuTicks();
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    case Source::kTsc:
    case Source::kCntvct:
      return static_cast<double>(static_cast<int64_t>(ReadTsc() - base_ticks.load(std::memory_order_relaxed)));
#endif
    default:
      return static_cast<double>(static_cast<int64_t>(ReadMonotonicNs() - base_ticks.load(std::memory_order_relaxed)));
  }
}

uint64_t RawTicks() {
#if defined(__x86_64__) || defined(__aarch64__)
  if (CurrentSource() != Source::kMonotonic) return ReadTsc();
#endif
  return ReadMonotonicNs();
}

Source ClaimSource(Source wanted) {
  std::lock_guard<std::mutex> lock(claim);
  if (!claimed) {
    claimed = true;
    source.store(static_cast<int>(wanted));
    // A little in the past, so that no reading is 0: the recorder keeps 0 for "still open".
    base_ticks.store(RawTicks() - 1000);
  }
  return CurrentSource();
}

Source CurrentSource() { return static_cast<Source>(source.load()); }

void SetCpuOffset(uint32_t cpu, int64_t offset_ticks, bool known) {
  if (cpu >= kMaxCpus) return;
  cpus[cpu].offset.store(offset_ticks);
  cpus[cpu].known.store(known);
}

void SetFallbackLine(uint64_t mono_ns, double ticks, double ns_per_tick) {
  fallback_mono_ns.store(mono_ns);
  fallback_ticks.store(ticks);
  fallback_ns_per_tick.store(ns_per_tick);
}

void DegradeToMonotonic() { degraded.store(true); }

void InjectOffset(uint32_t cpu, int64_t ticks) {
  if (cpu < kMaxCpus) cpus[cpu].injected.store(ticks);
}

int64_t InjectedOffset(uint32_t cpu) { return cpu < kMaxCpus ? cpus[cpu].injected.load() : 0; }

uint64_t UnknownCpuReadings() { return unknown_cpu_readings.load(); }

uint64_t BaseTicks() { return base_ticks.load(); }

}  // namespace spanline
