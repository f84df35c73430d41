// See calibrate.h.
#include "calibrate.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include "clock_state.h"
#include "ticks.h"

namespace spanline {
namespace {

constexpr int kTries = 24;

struct Reading {
  uint64_t ticks;
  uint32_t cpu;
};

// Waits for earlier instructions, so the bracket really is around the clock.
Reading ReadForPair(Source source) {
#if defined(__x86_64__)
  if (source == Source::kTsc) return {ReadTscOrdered(), 0};
  if (source == Source::kTscPerCpu) {
    const CpuTicks read = ReadTscp();
    return {read.ticks + static_cast<uint64_t>(InjectedOffset(read.cpu)), read.cpu};
  }
#elif defined(__aarch64__)
  if (source == Source::kCntvct) return {ReadTscOrdered(), 0};
#endif
  return {source == Source::kMonotonic ? ReadMonotonicNs() : RawTicks(), 0};
}

}  // namespace

Pair TakePair() {
  Pair best{0, 0, 0, UINT64_MAX};
  const Source source = CurrentSource();
  for (int i = 0; i < kTries; i++) {
    const Reading before = ReadForPair(source);
    const uint64_t mono = ReadMonotonicNs();
    const Reading after = ReadForPair(source);
    const bool is_torn = before.cpu != after.cpu || after.ticks < before.ticks;
    const uint64_t bracket = is_torn ? UINT64_MAX : after.ticks - before.ticks;
    // The first in any case: a pair with a wide bracket is a pair, zeros would be a reading at boot.
    if (i == 0 || bracket < best.bracket) best = {before.cpu, before.ticks + (is_torn ? 0 : bracket / 2), mono, bracket};
  }
  return best;
}

#if defined(__linux__)
namespace {

enum class Outcome { kNotPinned, kTaken, kIdDiffers };

struct Task {
  uint32_t cpu;
  Pair pair;
  Outcome outcome;
};

// As many as there can be ids: the kernel refuses a set that is smaller than the machine.
struct CpuSet {
  cpu_set_t bits[kMaxCpus / CPU_SETSIZE];
};

void* RunPinned(void* argument) {
  Task* task = static_cast<Task*>(argument);
  CpuSet only;
  CPU_ZERO_S(sizeof(only), only.bits);
  CPU_SET_S(task->cpu, sizeof(only), only.bits);
  // 0 is the calling thread: this one, made for the purpose.
  if (sched_setaffinity(0, sizeof(only), only.bits) != 0) return nullptr;
  task->pair = TakePair();
  if (task->pair.cpu != task->cpu) task->outcome = Outcome::kIdDiffers;
  else if (task->pair.bracket != UINT64_MAX) task->outcome = Outcome::kTaken;
  return nullptr;
}

}  // namespace

std::vector<Pair> TakePairPerCpu() {
  CpuSet allowed;
  CPU_ZERO_S(sizeof(allowed), allowed.bits);
  if (sched_getaffinity(0, sizeof(allowed), allowed.bits) != 0) return {};
  std::vector<Task> tasks;
  for (uint32_t cpu = 0; cpu < kMaxCpus; cpu++) {
    if (CPU_ISSET_S(cpu, sizeof(allowed), allowed.bits)) tasks.push_back({cpu, {}, Outcome::kNotPinned});
  }
  std::vector<pthread_t> threads(tasks.size());
  std::vector<bool> started(tasks.size(), false);
  for (size_t i = 0; i < tasks.size(); i++) started[i] = pthread_create(&threads[i], nullptr, RunPinned, &tasks[i]) == 0;
  for (size_t i = 0; i < tasks.size(); i++) {
    if (started[i]) pthread_join(threads[i], nullptr);
  }
  std::vector<Pair> pairs;
  for (const Task& task : tasks) {
    if (task.outcome == Outcome::kIdDiffers) return {};
    if (task.outcome == Outcome::kTaken) pairs.push_back(task.pair);
  }
  return pairs;
}
#else
std::vector<Pair> TakePairPerCpu() { return {}; }
#endif

}  // namespace spanline
