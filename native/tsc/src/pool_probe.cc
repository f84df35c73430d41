// Probes of libuv's thread pool. Requests of a loop keep its process alive, and cannot be taken back once they run: a probe is withdrawn as soon as
// no other request is under way, and its memory is never given back.
#include "pool_probe.h"

#include <atomic>

namespace spanline {
namespace {

// Between two probes, unless the one before was late, or as many requests have come as there are threads: then a much shorter time.
constexpr uint64_t kQuietNs = 20'000'000;
constexpr uint64_t kLeastNs = 2'000'000;
constexpr uint32_t kUsualThreads = 4;

// A request that does nothing but tell when it began.
struct WorkProbe {
  uv_work_t request;
  bool is_out = false;
  uint64_t number = 0;
  uint64_t queued = 0;
  // 0 until then. Written by a thread of the pool.
  std::atomic<uint64_t> begun{0};
};

// Makes a text of an address: of look-ups, of which libuv runs as many as half of the threads at once, the only one that asks nobody. When it began
// cannot be told, so that it counts how long the loop was idle meanwhile.
struct NameProbe {
  uv_getnameinfo_t request;
  bool is_out = false;
  uint64_t number = 0;
  uint64_t queued = 0;
  uint64_t idle_before = 0;
};

struct Pool {
  uv_loop_t* loop = nullptr;
  // Null without a timeline.
  uv_timer_t* overdue = nullptr;
  PoolListener listener = {};
  uint64_t bound_ns = 0;
  uint32_t threads = kUsualThreads;
  sockaddr_in address = {};
  WorkProbe work;
  NameProbe name;
  uint64_t started = 0;
  uint64_t number = 0;
  // The number of which the listener was told last.
  uint64_t told = 0;
  uint64_t last = 0;
  // The fewest since the last probe.
  uint32_t requests = 0;
  // The last stretch in which the whole pool was full.
  uint64_t full_since = 0;
  uint64_t full_until = 0;
};

// Never deleted: libuv and its threads hold what is under way beyond the end of everything else.
Pool* pool = nullptr;

uint32_t Threads() {
  char text[8];
  size_t size = sizeof text;
  if (uv_os_getenv("UV_THREADPOOL_SIZE", text, &size) != 0) return kUsualThreads;
  uint32_t threads = 0;
  for (size_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; i++) threads = threads * 10 + (text[i] - '0');
  return threads == 0 ? 1 : threads;
}

uint32_t OthersUnderWay() {
  return pool->loop->active_reqs.count - static_cast<uint32_t>(pool->work.is_out) - static_cast<uint32_t>(pool->name.is_out);
}

// Fails, and does no harm, where it runs already.
void Withdraw() {
  WorkProbe& work = pool->work;
  if (work.is_out && uv_cancel(reinterpret_cast<uv_req_t*>(&work.request)) == 0)
    work.begun.store(uv_hrtime(), std::memory_order_relaxed);
  if (pool->name.is_out) uv_cancel(reinterpret_cast<uv_req_t*>(&pool->name.request));
}

void Tell(uint64_t number) {
  if (number <= pool->told) return;
  pool->told = number;
  pool->listener.is_full(number, OthersUnderWay());
}

// False for a probe of a timeline that is over.
bool IsOfNow(uint64_t queued) {
  if (pool->overdue == nullptr) return false;
  if (!pool->work.is_out && !pool->name.is_out) uv_timer_stop(pool->overdue);
  return queued >= pool->started;
}

void WasFull(uint64_t number, uint64_t from, uint64_t to) {
  Tell(number);
  // It may be full still.
  pool->last = 0;
  pool->listener.was_full(number, from, to);
}

void OnWork(uv_work_t*) { pool->work.begun.store(uv_hrtime(), std::memory_order_release); }

void OnWorkDone(uv_work_t*, int) {
  WorkProbe& work = pool->work;
  work.is_out = false;
  if (!IsOfNow(work.queued)) return;
  const uint64_t begun = work.begun.load(std::memory_order_acquire);
  if (begun - work.queued < pool->bound_ns) return;
  if (work.queued > pool->full_until + pool->bound_ns) pool->full_since = work.queued;
  pool->full_until = begun;
  WasFull(work.number, work.queued, begun);
}

// Since when look-ups of names alone have waited.
uint64_t NamesSince() {
  const uint64_t queued = pool->name.queued;
  return pool->full_since <= queued && pool->full_until > queued ? pool->full_until : queued;
}

void OnNameDone(uv_getnameinfo_t*, int, const char*, const char*) {
  NameProbe& name = pool->name;
  name.is_out = false;
  if (!IsOfNow(name.queued)) return;
  const uint64_t idle = uv_metrics_idle_time(pool->loop);
  if (idle - name.idle_before < pool->bound_ns) return;
  const uint64_t until = pool->listener.idle_until(idle);
  const uint64_t from = NamesSince();
  if (until >= from + pool->bound_ns) WasFull(name.number, from, until);
}

// Not a probe of a timeline that is over, which may be out still.
bool IsWorkWaiting() {
  const WorkProbe& work = pool->work;
  return work.is_out && work.queued >= pool->started && work.begun.load(std::memory_order_acquire) == 0;
}

bool IsNameOut() { return pool->name.is_out && pool->name.queued >= pool->started; }

void OnOverdue(uv_timer_t* timer) {
  // Timers count from the begin of the turn in which they were started.
  const uint64_t now = uv_hrtime();
  const uint64_t due = pool->last + pool->bound_ns;
  if (now < due) uv_timer_start(timer, OnOverdue, (due - now) / 1'000'000 + 1, 0);
  else if (IsWorkWaiting()) Tell(pool->work.number);
  else if (IsNameOut()) Tell(pool->name.number);
}

void Ask(uint64_t now, uint64_t idle, uint32_t requests) {
  WorkProbe& work = pool->work;
  NameProbe& name = pool->name;
  pool->last = now;
  pool->requests = requests;
  pool->number++;
  work.number = pool->number;
  work.queued = now;
  work.begun.store(0, std::memory_order_relaxed);
  if (uv_queue_work(pool->loop, &work.request, OnWork, OnWorkDone) != 0) return;
  work.is_out = true;
  uv_timer_start(pool->overdue, OnOverdue, pool->bound_ns / 1'000'000, 0);
  // With fewer requests no look-up waits for another.
  if (name.is_out || requests <= (pool->threads + 1) / 2) return;
  name.number = pool->number;
  name.queued = now;
  name.idle_before = idle;
  name.is_out = uv_getnameinfo(pool->loop, &name.request, OnNameDone, reinterpret_cast<const sockaddr*>(&pool->address),
                               NI_NUMERICHOST | NI_NUMERICSERV) == 0;
}

}  // namespace

void StartPoolProbe(uv_loop_t* loop, uint64_t bound_ns, const PoolListener& listener) {
  if (pool == nullptr) {
    pool = new Pool();
    uv_ip4_addr("127.0.0.1", 1, &pool->address);
  }
  // What is under way for another loop answers there.
  if ((pool->work.is_out || pool->name.is_out) && pool->loop != loop) return;
  pool->loop = loop;
  pool->listener = listener;
  pool->bound_ns = bound_ns;
  pool->threads = Threads();
  pool->started = uv_hrtime();
  pool->last = 0;
  pool->requests = 0;
  pool->full_since = 0;
  pool->full_until = 0;
  pool->overdue = new uv_timer_t();
  uv_timer_init(loop, pool->overdue);
  uv_unref(reinterpret_cast<uv_handle_t*>(pool->overdue));
}

bool ProbePool(uint64_t now, uint64_t idle) {
  if (pool == nullptr || pool->overdue == nullptr) return false;
  if (pool->loop->active_reqs.count == 0) {
    pool->requests = 0;
    return false;
  }
  const uint32_t requests = OthersUnderWay();
  if (requests < pool->requests) pool->requests = requests;
  if (requests == 0) Withdraw();
  const bool has_grown = requests >= pool->requests + pool->threads;
  if (requests == 0 || pool->work.is_out || now - pool->last < (has_grown ? kLeastNs : kQuietNs)) return false;
  Ask(now, idle, requests);
  return true;
}

bool IsPoolFull() { return pool->work.is_out || pool->name.is_out; }

uint64_t PoolFullSince(uint64_t now, uint64_t idle, uint64_t* number) {
  if (pool == nullptr || pool->overdue == nullptr) return 0;
  const WorkProbe& work = pool->work;
  const NameProbe& name = pool->name;
  if (IsWorkWaiting() && now - work.queued >= pool->bound_ns) {
    *number = work.number;
    return work.queued;
  }
  if (!IsNameOut() || idle - name.idle_before < pool->bound_ns) return 0;
  *number = name.number;
  return NamesSince();
}

void EndPoolProbe(bool is_forked) {
  if (pool == nullptr || pool->overdue == nullptr) return;
  uv_timer_stop(pool->overdue);
  uv_close(reinterpret_cast<uv_handle_t*>(pool->overdue),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
  pool->overdue = nullptr;
  // The pool of the child is another one, and its locks are as the fork found them.
  if (!is_forked) Withdraw();
}

}  // namespace spanline
