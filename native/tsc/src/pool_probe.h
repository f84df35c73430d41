// How long a request waits for a thread of libuv's pool, which the file system, dns.lookup, crypto, zlib and addons share: asked by requests of its
// own while the loop has requests under way.
#pragma once
#include <uv.h>

#include <cstdint>

namespace spanline {

// Whom a probe tells, on the main thread.
struct PoolListener {
  // A request has waited for `bound_ns` in the pool, and waits still. `requests` are under way, of whatever kind.
  void (*is_full)(uint64_t number, uint32_t requests);
  // A request has waited from one moment to another.
  void (*was_full)(uint64_t number, uint64_t from, uint64_t to);
  // The end of the last time that the loop was idle, where it has been idle for so long in all.
  uint64_t (*idle_until)(uint64_t idle);
};

// One in a process, for one loop at a time. Calls after the end, or without a start, do nothing.
void StartPoolProbe(uv_loop_t* loop, uint64_t bound_ns, const PoolListener& listener);
// Before the loop waits. Costs a comparison while no request is under way, and lets no probe keep a process alive. True when it has begun one.
bool ProbePool(uint64_t now, uint64_t idle);
// Whether a probe waits in the pool.
bool IsPoolFull();
// Since when the pool is full as far as a probe tells that is under way, and the number of the probe; 0 when it is not.
uint64_t PoolFullSince(uint64_t now, uint64_t idle, uint64_t* number);
// `is_forked`: in a child of the process that started it.
void EndPoolProbe(bool is_forked);

}  // namespace spanline
