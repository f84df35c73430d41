// Raw tick sources: one read each. Nothing here keeps state or knows JavaScript.
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace spanline {

// A tick count and the CPU it was read on, from one instruction, so that no migration can come between them.
struct CpuTicks {
  uint64_t ticks;
  uint32_t cpu;
};

inline uint64_t ReadClock(clockid_t id) {
  timespec at;
  clock_gettime(id, &at);
  return static_cast<uint64_t>(at.tv_sec) * 1000000000u + static_cast<uint64_t>(at.tv_nsec);
}

inline uint64_t ReadMonotonicNs() { return ReadClock(CLOCK_MONOTONIC); }

#if defined(__x86_64__)

inline uint64_t ReadTsc() { return __rdtsc(); }

// After all earlier instructions. Not RDTSCP: the source `tsc` must work on a CPU that has none.
inline uint64_t ReadTscOrdered() {
  _mm_lfence();
  return __rdtsc();
}

// Linux keeps the CPU id in the low 12 bits of IA32_TSC_AUX, the NUMA node above.
inline CpuTicks ReadTscp() {
  uint32_t aux;
  const uint64_t ticks = __rdtscp(&aux);
  return {ticks, aux & 0xfffu};
}

struct CpuFeatures {
  bool invariant_tsc;
  bool rdtscp;
};

inline CpuFeatures DetectFeatures() {
  uint32_t a, b, c, d;
  CpuFeatures found{false, false};
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) found.rdtscp = (d >> 27) & 1u;
  // "Invariant" covers both constant rate and running on in deep sleep (constant_tsc and nonstop_tsc).
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d)) found.invariant_tsc = (d >> 8) & 1u;
  return found;
}

#elif defined(__aarch64__)

inline uint64_t ReadTsc() {
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

// After all earlier instructions.
inline uint64_t ReadTscOrdered() {
  asm volatile("isb" ::: "memory");
  return ReadTsc();
}

inline uint64_t CounterHz() {
  uint64_t hz;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
}

#endif

}  // namespace spanline
