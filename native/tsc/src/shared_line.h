// A Line that one thread replaces while others read it (a sequence lock): a reader sees one line or the other, never the
// time of one with the ticks of the other, which would send its clock off by the time between two calibrations.
#pragma once

#include <atomic>
#include <cstdint>

#include "clock_state.h"

namespace spanline {

class SharedLine {
 public:
  // Tries again only while a Store of three words is under way.
  Line Load() const {
    for (;;) {
      const uint32_t before = version_.load(std::memory_order_acquire);
      const Line line{mono_ns_.load(std::memory_order_acquire), ticks_.load(std::memory_order_acquire),
                      ns_per_tick_.load(std::memory_order_acquire)};
      if ((before & 1u) == 0 && version_.load(std::memory_order_relaxed) == before) return line;
    }
  }

  // One writer at a time.
  void Store(const Line& line) {
    const uint32_t before = version_.load(std::memory_order_relaxed);
    version_.store(before + 1, std::memory_order_relaxed);
    // Each release keeps the odd version before what it guards.
    mono_ns_.store(line.mono_ns, std::memory_order_release);
    ticks_.store(line.ticks, std::memory_order_release);
    ns_per_tick_.store(line.ns_per_tick, std::memory_order_release);
    version_.store(before + 2, std::memory_order_release);
  }

 private:
  std::atomic<uint32_t> version_{0};
  std::atomic<int64_t> mono_ns_{0};
  std::atomic<int64_t> ticks_{0};
  std::atomic<double> ns_per_tick_{1};
};

}  // namespace spanline
