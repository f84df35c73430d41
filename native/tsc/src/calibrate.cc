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

Reading ReadForPair() {
#if defined(__x86_64__)
  // RDTSCP waits for earlier instructions, so the bracket really is around the clock.
  const CpuTicks read = ReadTscp();
  return {read.ticks + static_cast<uint64_t>(InjectedOffset(read.cpu)), read.cpu};
#else
  return {RawTicks(), 0};
#endif
}

}  // namespace

Pair TakePair() {
  Pair best{0, 0, 0, UINT64_MAX};
  const bool is_counter = CurrentSource() != Source::kMonotonic;
  for (int i = 0; i < kTries; i++) {
    const Reading before = is_counter ? ReadForPair() : Reading{ReadMonotonicNs(), 0};
    const uint64_t mono = ReadMonotonicNs();
    const Reading after = is_counter ? ReadForPair() : Reading{ReadMonotonicNs(), 0};
    if (before.cpu != after.cpu || after.ticks < before.ticks) continue;
    const uint64_t bracket = after.ticks - before.ticks;
    if (bracket < best.bracket) best = {before.cpu, before.ticks + bracket / 2, mono, bracket};
  }
  return best;
}

#if defined(__linux__)
namespace {

struct Task {
  uint32_t cpu;
  Pair pair;
  bool valid;
};

void* RunPinned(void* argument) {
  Task* task = static_cast<Task*>(argument);
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(task->cpu, &only);
  // 0 is the calling thread: this one, made for the purpose.
  if (sched_setaffinity(0, sizeof(only), &only) != 0) return nullptr;
  task->pair = TakePair();
  task->valid = task->pair.bracket != UINT64_MAX && task->pair.cpu == task->cpu;
  return nullptr;
}

}  // namespace

std::vector<Pair> TakePairPerCpu() {
  std::vector<Pair> pairs;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return pairs;
  std::vector<Task> tasks;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &allowed)) tasks.push_back({cpu, {}, false});
  }
  std::vector<pthread_t> threads(tasks.size());
  std::vector<bool> started(tasks.size(), false);
  for (size_t i = 0; i < tasks.size(); i++) started[i] = pthread_create(&threads[i], nullptr, RunPinned, &tasks[i]) == 0;
  for (size_t i = 0; i < tasks.size(); i++) {
    if (started[i]) pthread_join(threads[i], nullptr);
  }
  for (const Task& task : tasks) {
    if (task.valid) pairs.push_back(task.pair);
  }
  return pairs;
}
#else
std::vector<Pair> TakePairPerCpu() { return {}; }
#endif

}  // namespace spanline
