// The event-loop timeline, of the main thread alone: busy stretches of the event loop from a prepare handle, garbage collections from V8's
// callbacks, and samples of who has the loop, which a watchdog thread asks V8 for while a turn of the loop takes long; stretches in which the pool
// of threads was full (pool_probe.h); how much of the time the loop worked in turns too short for a stretch of their own. Nothing here may keep the process alive, allocate in V8 during a collection, or run for a loop that is idle
// or quick beyond a few clock readings a turn.
#include "timeline.h"

#include <node.h>
#include <uv.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "pool_probe.h"

namespace {

// Cells of the array that JavaScript gave; the same numbers stand in native-timeline.ts. The first are how many rows each ring has got so far.
enum Ring { kBusyRows, kCollections, kPoolRows, kTurnRows, kRings };
enum Cell { kLateSamples = kRings, kPoolProbes, kOpenBusy, kOpenTurn, kOpenPool, kOpenPoolNumber, kFirstRow };
constexpr uint32_t kRowCells = 3;
// Rows of short turns come more often than others: their ring, the last, has so many times the rows.
constexpr uint32_t kTurnRowsFactor = 4;
// Of the bound of a busy stretch: from this work on short turns are a row, if it is as large a share of their time; a wait of this length ends them,
// so that the row is as long as the work was.
constexpr uint64_t kWorkShare = 10;
constexpr uint64_t kWaitShare = 5;
// Rows that follow one another become one while their shares of work are as near, up to so many times the bound.
constexpr double kNearShare = 8;
constexpr uint64_t kJoined = 16;
constexpr int kMaxFrames = 16;
// The watchdog sleeps longer when the loop has been idle for as many periods, until JavaScript has run or for so many.
constexpr int kPeriodsToPark = 25;
constexpr int kParkedPeriods = 4;
// A stretch is asked about when it is found as old, whether or not the watchdog has seen it before. Below, quick turns under load would be.
constexpr uint64_t kSoonNs = 2'000'000;
// Words of a microtask queue that are looked at for its count of finished microtasks.
constexpr int kQueueWords = 8;
// While the pool is full, and for as many turns more, what runs first in a turn is looked at, until that is the callback of a request that was in it.
constexpr int kPoolLooks = 8;
constexpr uint64_t kPoolLookNs = 1'000'000;

using Word = std::atomic<uint64_t>;

/** Time of turns that follow one another, and how much of it the loop worked. */
struct Turns {
  uint64_t began = 0;
  uint64_t ended = 0;
  uint64_t work = 0;
};

/** What the main thread had done when a sample was asked for. */
struct Request {
  uint64_t at = 0;
  uint64_t turn = 0;
  uint64_t entries = 0;
  uint64_t microtasks = 0;
  int32_t entered = 0;
  int32_t left = 0;
};

struct Timeline {
  v8::Isolate* isolate;
  uv_loop_t* loop;
  uv_prepare_t* prepare;
  v8::Global<v8::Context> context;
  v8::Global<v8::Function> sample;
  v8::Global<v8::Function> pool;
  std::shared_ptr<v8::BackingStore> cells_store;
  std::shared_ptr<v8::BackingStore> switches_store;
  double* cells;
  uint32_t max_rows;
  // How often a span queue was entered and left.
  const std::atomic<int32_t>* switches;
  // Microtasks that are done; null where V8 keeps them elsewhere.
  const Word* microtasks;
  uint64_t busy_ns;
  uint64_t period_ns;
  int pid;

  // Written with the turn, before it; the watchdog reads them.
  std::atomic<uint64_t> turn_began{0};
  std::atomic<uint64_t> idle_before{0};
  std::atomic<uint64_t> turn{1};
  // Short turns: those of the window that is open, and the row before, which may still grow. Without work there is none.
  Turns window;
  Turns row;
  // Of the turn that goes on, the work up to here is in the window or in a row.
  uint64_t counted = 0;
  // At the begin of the turn.
  uint64_t turn_entries = 0;
  uint64_t turn_microtasks = 0;
  uint64_t collection_began = 0;
  int collection_depth = 0;
  uint64_t pool_number = 0;
  uint64_t pool_looked = 0;
  int pool_looks = 0;

  uv_thread_t thread;
  uv_mutex_t mutex;
  uv_cond_t wake;
  bool is_stopping = false;
  std::atomic<bool> is_parked{false};
  // Set by the watchdog with `request`, unset by the main thread when it has served it.
  std::atomic<bool> is_pending{false};
  Request request;
  // Of the main thread alone: what it had done at the sample before.
  Request before;
};

// One in a process. Written by the main thread alone; an interrupt that comes after the end finds null.
Timeline* timeline = nullptr;
// Calls from outside into JavaScript that have returned.
std::atomic<uint64_t> entries{0};

void WriteRow(Timeline* of, Ring ring, uint64_t start, uint64_t end, double third) {
  double* cells = of->cells;
  const auto written = static_cast<uint64_t>(cells[ring]);
  const uint64_t rows = ring == kTurnRows ? static_cast<uint64_t>(of->max_rows) * kTurnRowsFactor : of->max_rows;
  double* row = cells + kFirstRow + (ring * static_cast<uint64_t>(of->max_rows) + written % rows) * kRowCells;
  row[0] = static_cast<double>(start);
  row[1] = static_cast<double>(end);
  row[2] = third;
  cells[ring] = static_cast<double>(written + 1);
}

// Where the stretch began that is going on: the poll of a turn comes first, and its callbacks run in it.
uint64_t BusySince(const Timeline* of, uint64_t idle) {
  return of->turn_began.load(std::memory_order_relaxed) + (idle - of->idle_before.load(std::memory_order_relaxed));
}

void OnPoolInterrupt(v8::Isolate* isolate, void*);

// Whether JavaScript has run since this was asked last.
bool HasRunJavaScript(Timeline* of) {
  const uint64_t calls = entries.load(std::memory_order_relaxed);
  const uint64_t microtasks = of->microtasks == nullptr ? 0 : of->microtasks->load(std::memory_order_relaxed);
  const bool has_run = of->microtasks == nullptr || calls != of->turn_entries || microtasks != of->turn_microtasks;
  of->turn_entries = calls;
  of->turn_microtasks = microtasks;
  return has_run;
}

bool IsNotable(const Timeline* of, const Turns& turns) {
  const uint64_t length = turns.ended - turns.began;
  return turns.work * kWorkShare >= (length > of->busy_ns ? length : of->busy_ns);
}

void WriteTurns(Timeline* of) {
  const Turns& row = of->row;
  if (row.work == 0) return;
  WriteRow(of, kTurnRows, row.began, row.ended, static_cast<double>(row.ended - row.began - row.work));
  of->row = Turns();
}

// A window of little work is forgotten: it is waiting to all who ask.
void CloseWindow(Timeline* of) {
  const Turns window = of->window;
  of->window = Turns();
  if (!IsNotable(of, window)) return;
  Turns& row = of->row;
  const auto length = [](const Turns& turns) { return static_cast<double>(turns.ended - turns.began); };
  const auto share = [&](const Turns& turns) { return static_cast<double>(turns.work) / length(turns); };
  const bool is_next = row.work > 0 && row.ended == window.began && row.ended - row.began < kJoined * of->busy_ns;
  const double apart = is_next ? share(row) - share(window) : 1;
  if (apart * kNearShare > 1 || apart * kNearShare < -1) {
    WriteTurns(of);
    row = window;
    return;
  }
  row.ended = window.ended;
  row.work += window.work;
}

// The loop waited from the end of the window to `from` and worked from there to `to`, for less than a busy stretch takes.
void AddShortTurn(Timeline* of, uint64_t from, uint64_t to) {
  Turns& window = of->window;
  if (window.work > 0) {
    const uint64_t length = from - window.began;
    const bool is_long = from - window.ended >= of->busy_ns / kWaitShare;
    const bool is_thin = length >= of->busy_ns && window.work * kWorkShare < length;
    if (IsNotable(of, window) ? is_long : is_thin) CloseWindow(of);
  }
  if (window.work == 0) window.began = from;
  window.ended = to;
  window.work += to - from;
  if (to - window.began >= of->busy_ns) CloseWindow(of);
}

void OnPrepare(uv_prepare_t* handle) {
  Timeline* of = timeline;
  if (of == nullptr) return;
  const uint64_t now = uv_hrtime();
  const uint64_t idle = uv_metrics_idle_time(of->loop);
  const uint64_t since = BusySince(of, idle);
  const uint64_t turn = of->turn.load(std::memory_order_relaxed);
  const double signed_turn = HasRunJavaScript(of) ? static_cast<double>(turn) : -static_cast<double>(turn);
  const uint64_t from = since > of->counted ? since : of->counted;
  if (now > since && now - since >= of->busy_ns) {
    CloseWindow(of);
    WriteRow(of, kBusyRows, since, now, signed_turn);
  } else if (now > from) {
    AddShortTurn(of, from, now);
  }
  of->idle_before.store(idle, std::memory_order_relaxed);
  of->turn_began.store(now, std::memory_order_relaxed);
  of->turn.store(turn + 1, std::memory_order_release);
  if (spanline::ProbePool(now, idle)) of->cells[kPoolProbes]++;
  if (of->pool_looks == 0 || now - of->pool_looked < kPoolLookNs) return;
  of->pool_looked = now;
  if (!spanline::IsPoolFull()) of->pool_looks--;
  of->isolate->RequestInterrupt(OnPoolInterrupt, nullptr);
}

void OnCollectionStart(v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* data) {
  Timeline* of = static_cast<Timeline*>(data);
  if (of->collection_depth++ == 0) of->collection_began = uv_hrtime();
}

void OnCollectionEnd(v8::Isolate*, v8::GCType type, v8::GCCallbackFlags, void* data) {
  Timeline* of = static_cast<Timeline*>(data);
  // It may have begun before the timeline did.
  if (of->collection_depth == 0 || --of->collection_depth > 0) return;
  WriteRow(of, kCollections, of->collection_began, uv_hrtime(), static_cast<double>(type));
}

// At the end of a call, for at the begin V8 also tells of each look at an object, some fifty a request.
void OnCallCompleted(v8::Isolate*) {
  // One writer: no locked instruction.
  entries.store(entries.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  Timeline* of = timeline;
  if (of == nullptr || !of->is_parked.load(std::memory_order_relaxed)) return;
  uv_mutex_lock(&of->mutex);
  of->is_parked.store(false, std::memory_order_relaxed);
  uv_cond_signal(&of->wake);
  uv_mutex_unlock(&of->mutex);
}

Request StateNow(const Timeline* of) {
  Request state;
  state.turn = of->turn.load(std::memory_order_acquire);
  state.entries = entries.load(std::memory_order_acquire);
  state.microtasks = of->microtasks == nullptr ? 0 : of->microtasks->load(std::memory_order_acquire);
  state.entered = of->switches[0].load(std::memory_order_acquire);
  state.left = of->switches[1].load(std::memory_order_acquire);
  state.at = uv_hrtime();
  return state;
}

// Whether no other call from outside and no other microtask came between.
bool IsOneTask(const Timeline* of, const Request& a, const Request& b) {
  return of->microtasks != nullptr && a.turn == b.turn && a.entries == b.entries && a.microtasks == b.microtasks;
}

// Function, script, line of each frame, innermost first.
v8::Local<v8::Array> Frames(v8::Isolate* isolate, v8::Local<v8::Context> context) {
  v8::Local<v8::StackTrace> stack = v8::StackTrace::CurrentStackTrace(isolate, kMaxFrames, v8::StackTrace::kDetailed);
  v8::Local<v8::Value> values[kMaxFrames * 3];
  int count = 0;
  for (int i = 0; i < stack->GetFrameCount() && i < kMaxFrames; i++) {
    v8::Local<v8::StackFrame> frame = stack->GetFrame(isolate, static_cast<uint32_t>(i));
    v8::Local<v8::String> name = frame->GetFunctionName();
    v8::Local<v8::String> script = frame->GetScriptName();
    values[count++] = name.IsEmpty() ? v8::String::Empty(isolate) : name;
    values[count++] = script.IsEmpty() ? v8::String::Empty(isolate) : script;
    values[count++] = v8::Integer::New(isolate, frame->GetLineNumber());
  }
  return v8::Array::New(isolate, values, static_cast<size_t>(count));
}

// Calls JavaScript, from the loop or in the middle of any code: nothing that waits for its turn runs, and what is thrown ends here.
// Gives whether the answer is true.
bool Call(Timeline* of, const v8::Global<v8::Function>& function, int count, v8::Local<v8::Value>* arguments) {
  v8::Local<v8::Context> context = of->context.Get(of->isolate);
  v8::Context::Scope entered(context);
  v8::MicrotasksScope none(context, v8::MicrotasksScope::kDoNotRunMicrotasks);
  bool is_terminated = false;
  bool is_true = false;
  {
    v8::TryCatch caught(of->isolate);
    v8::Local<v8::Value> answer;
    v8::Local<v8::Function> called = function.Get(of->isolate);
    is_true = called->Call(context, v8::Undefined(of->isolate), count, arguments).ToLocal(&answer) && answer->IsTrue();
    is_terminated = caught.HasTerminated();
  }
  // The end that somebody asked for, of a worker or of a script's time, is theirs and must not be lost here.
  if (is_terminated) of->isolate->TerminateExecution();
  return is_true;
}

// Runs on the main thread where JavaScript checks its stack limit, in the middle of any code.
void OnInterrupt(v8::Isolate* isolate, void*) {
  Timeline* of = timeline;
  if (of == nullptr || !of->is_pending.load(std::memory_order_acquire)) return;
  const Request then = of->request;
  const Request now = StateNow(of);
  if (then.turn != now.turn) {
    of->cells[kLateSamples]++;
    of->is_pending.store(false, std::memory_order_release);
    return;
  }
  v8::HandleScope scope(isolate);
  // True: nothing but one piece of work without a stack check ran from the request to now.
  const bool is_same = IsOneTask(of, then, now);
  const bool is_going_on = IsOneTask(of, of->before, now) && of->before.entered == now.entered && of->before.left == now.left;
  v8::Local<v8::Value> arguments[] = {
      v8::Number::New(isolate, static_cast<double>(now.turn)),
      v8::Number::New(isolate, static_cast<double>(then.at)),
      v8::Number::New(isolate, static_cast<double>(now.at)),
      v8::Boolean::New(isolate, is_same),
      v8::Boolean::New(isolate, is_going_on),
      v8::Integer::New(isolate, now.entered - then.entered),
      v8::Integer::New(isolate, now.left - then.left),
      Frames(isolate, of->context.Get(isolate)),
  };
  Call(of, of->sample, 8, arguments);
  of->before = StateNow(of);
  of->is_pending.store(false, std::memory_order_release);
}

// The first JavaScript of a turn while the pool is full: its outermost function is the callback of what has come to an end.
void OnPoolInterrupt(v8::Isolate* isolate, void*) {
  Timeline* of = timeline;
  if (of == nullptr) return;
  v8::HandleScope scope(isolate);
  v8::Local<v8::Value> arguments[] = {
      v8::Number::New(isolate, static_cast<double>(of->pool_number)),
      v8::Integer::New(isolate, 0),
      Frames(isolate, of->context.Get(isolate)),
  };
  if (Call(of, of->pool, 3, arguments)) of->pool_looks = 0;
}

void OnPoolFull(uint64_t number, uint32_t requests) {
  Timeline* of = timeline;
  of->pool_number = number;
  of->pool_looks = kPoolLooks;
  v8::HandleScope scope(of->isolate);
  v8::Local<v8::Value> arguments[] = {
      v8::Number::New(of->isolate, static_cast<double>(number)),
      v8::Integer::NewFromUnsigned(of->isolate, requests),
  };
  Call(of, of->pool, 2, arguments);
}

void OnPoolWasFull(uint64_t number, uint64_t from, uint64_t to) {
  WriteRow(timeline, kPoolRows, from, to, static_cast<double>(number));
}

uint64_t IdleUntil(uint64_t idle) { return BusySince(timeline, idle); }

// Asks for a sample when one turn of the loop has had no idle moment for a whole period, or is busy for long enough when it is first seen. A turn
// that ends while this looks at it may be asked about for nothing: its sample comes late and is dropped.
void Watch(void* data) {
  Timeline* of = static_cast<Timeline*>(data);
  uint64_t turn_before = 0;
  uint64_t idle_before = 0;
  uint64_t entries_before = 0;
  int idle_periods = 0;
  uv_mutex_lock(&of->mutex);
  while (!of->is_stopping) {
    const bool is_parked = idle_periods >= kPeriodsToPark;
    of->is_parked.store(is_parked, std::memory_order_relaxed);
    uv_cond_timedwait(&of->wake, &of->mutex, is_parked ? of->period_ns * kParkedPeriods : of->period_ns);
    of->is_parked.store(false, std::memory_order_relaxed);
    if (of->is_stopping) break;
    const Request state = StateNow(of);
    idle_periods = state.entries == entries_before ? idle_periods + 1 : 0;
    entries_before = state.entries;
    const uint64_t idle = uv_metrics_idle_time(of->loop);
    const uint64_t since = BusySince(of, idle);
    const bool is_busy =
        (state.turn == turn_before && idle == idle_before) || (state.at > since && state.at - since >= kSoonNs);
    if (is_busy) idle_periods = 0;
    turn_before = state.turn;
    idle_before = idle;
    if (!is_busy || of->is_pending.load(std::memory_order_acquire)) continue;
    of->request = state;
    of->is_pending.store(true, std::memory_order_release);
    of->isolate->RequestInterrupt(OnInterrupt, nullptr);
  }
  uv_mutex_unlock(&of->mutex);
}

void End(Timeline* of) {
  timeline = nullptr;
  // The thread of a process that was forked is not there.
  if (of->pid == uv_os_getpid()) {
    uv_mutex_lock(&of->mutex);
    of->is_stopping = true;
    uv_cond_signal(&of->wake);
    uv_mutex_unlock(&of->mutex);
    uv_thread_join(&of->thread);
    uv_cond_destroy(&of->wake);
    uv_mutex_destroy(&of->mutex);
  }
  spanline::EndPoolProbe(of->pid != uv_os_getpid());
  of->isolate->RemoveGCPrologueCallback(OnCollectionStart, of);
  of->isolate->RemoveGCEpilogueCallback(OnCollectionEnd, of);
  of->isolate->RemoveCallCompletedCallback(OnCallCompleted);
  uv_prepare_stop(of->prepare);
  uv_close(reinterpret_cast<uv_handle_t*>(of->prepare),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_prepare_t*>(handle); });
  of->sample.Reset();
  of->pool.Reset();
  of->context.Reset();
  delete of;
}

// At the end of the environment, and at an exit in the middle, which runs no clean-up hooks.
void Stop(void*) {
  if (timeline != nullptr) End(timeline);
}

// Finds the count of finished microtasks in a queue by running some in a queue of its own: the word that went up by as many.
const Word* FindMicrotaskCount(v8::Isolate* isolate, v8::Local<v8::Context> context) {
  // Two rounds, so that the place in its ring goes around and is no count.
  constexpr uint64_t kRounds = 2;
  constexpr uint64_t kEach = 7;
  std::unique_ptr<v8::MicrotaskQueue> tried = v8::MicrotaskQueue::New(isolate, v8::MicrotasksPolicy::kExplicit);
  const auto words = [](v8::MicrotaskQueue* queue) { return reinterpret_cast<Word*>(queue); };
  uint64_t before[kQueueWords];
  for (int i = 1; i < kQueueWords; i++) before[i] = words(tried.get())[i].load();
  for (uint64_t round = 0; round < kRounds; round++) {
    for (uint64_t i = 0; i < kEach; i++) tried->EnqueueMicrotask(isolate, [](void*) {}, nullptr);
    tried->PerformCheckpoint(isolate);
  }
  int found = 0;
  for (int i = 1; i < kQueueWords; i++) {
    if (words(tried.get())[i].load() - before[i] != kRounds * kEach || before[i] != 0) continue;
    // Were two words alike, none could be trusted.
    if (found != 0) return nullptr;
    found = i;
  }
  return found == 0 ? nullptr : words(context->GetMicrotaskQueue()) + found;
}

// timelineStart(cells: Float64Array, maxRows, busyMs, periodMs, sample, switches: Int32Array, pool): boolean
void Start(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  v8::Local<v8::Context> context = isolate->GetCurrentContext();
  info.GetReturnValue().Set(false);
  if (timeline != nullptr || info.Length() < 7 || !info[0]->IsFloat64Array() || !info[4]->IsFunction() ||
      !info[5]->IsInt32Array() || !info[6]->IsFunction()) {
    return;
  }
  uv_loop_t* loop = node::GetCurrentEventLoop(isolate);
  node::Environment* environment = node::GetCurrentEnvironment(context);
  v8::Local<v8::Float64Array> cells = info[0].As<v8::Float64Array>();
  v8::Local<v8::Int32Array> switches = info[5].As<v8::Int32Array>();
  const auto max_rows = info[1]->Uint32Value(context).FromMaybe(0);
  if (loop == nullptr || environment == nullptr || max_rows == 0 || switches->Length() < 2 ||
      cells->Length() < kFirstRow + static_cast<size_t>(max_rows) * (kRings - 1 + kTurnRowsFactor) * kRowCells) {
    return;
  }
  Timeline* of = new Timeline();
  of->isolate = isolate;
  of->loop = loop;
  of->context.Reset(isolate, context);
  of->sample.Reset(isolate, info[4].As<v8::Function>());
  of->pool.Reset(isolate, info[6].As<v8::Function>());
  of->cells_store = cells->Buffer()->GetBackingStore();
  of->cells = reinterpret_cast<double*>(static_cast<char*>(of->cells_store->Data()) + cells->ByteOffset());
  of->switches_store = switches->Buffer()->GetBackingStore();
  of->switches = reinterpret_cast<std::atomic<int32_t>*>(static_cast<char*>(of->switches_store->Data()) +
                                                         switches->ByteOffset());
  of->max_rows = max_rows;
  of->busy_ns = static_cast<uint64_t>(info[2]->NumberValue(context).FromMaybe(5) * 1e6);
  of->period_ns = static_cast<uint64_t>(info[3]->NumberValue(context).FromMaybe(4) * 1e6);
  of->microtasks = FindMicrotaskCount(isolate, context);
  of->pid = uv_os_getpid();
  of->turn_began.store(uv_hrtime(), std::memory_order_relaxed);
  of->idle_before.store(uv_metrics_idle_time(loop), std::memory_order_relaxed);
  of->prepare = new uv_prepare_t();
  uv_mutex_init(&of->mutex);
  uv_cond_init(&of->wake);
  timeline = of;
  if (uv_thread_create(&of->thread, Watch, of) != 0) {
    timeline = nullptr;
    uv_cond_destroy(&of->wake);
    uv_mutex_destroy(&of->mutex);
    delete of->prepare;
    delete of;
    return;
  }
  uv_prepare_init(loop, of->prepare);
  uv_prepare_start(of->prepare, OnPrepare);
  uv_unref(reinterpret_cast<uv_handle_t*>(of->prepare));
  spanline::StartPoolProbe(loop, of->busy_ns, {OnPoolFull, OnPoolWasFull, IdleUntil});
  isolate->AddGCPrologueCallback(OnCollectionStart, of);
  isolate->AddGCEpilogueCallback(OnCollectionEnd, of);
  isolate->AddCallCompletedCallback(OnCallCompleted);
  // Once: these cannot be taken back, and do nothing without a timeline.
  static bool has_hooks = false;
  if (!has_hooks) {
    has_hooks = true;
    node::AddEnvironmentCleanupHook(isolate, Stop, nullptr);
    node::AtExit(environment, Stop, nullptr);
  }
  info.GetReturnValue().Set(true);
}

// timelineStop()
void StopNow(const v8::FunctionCallbackInfo<v8::Value>& info) { Stop(nullptr); }

// timelineNow(): nanoseconds of the clock that the rows have.
void Now(const v8::FunctionCallbackInfo<v8::Value>& info) {
  info.GetReturnValue().Set(static_cast<double>(uv_hrtime()));
}

// timelineOpen(): puts what goes on now into the cells, since when; 0 for what does not; short turns so far become rows. Gives the time; 0 without a timeline.
void Open(const v8::FunctionCallbackInfo<v8::Value>& info) {
  Timeline* of = timeline;
  info.GetReturnValue().Set(0);
  if (of == nullptr) return;
  const uint64_t now = uv_hrtime();
  const uint64_t idle = uv_metrics_idle_time(of->loop);
  uint64_t number = 0;
  const uint64_t since = BusySince(of, idle);
  const uint64_t from = since > of->counted ? since : of->counted;
  if (now > from && now - since < of->busy_ns) {
    AddShortTurn(of, from, now);
    of->counted = now;
  }
  // A row does not change once somebody has seen it.
  if (IsNotable(of, of->window)) CloseWindow(of);
  WriteTurns(of);
  of->cells[kOpenBusy] = static_cast<double>(since);
  of->cells[kOpenTurn] = static_cast<double>(of->turn.load(std::memory_order_relaxed));
  of->cells[kOpenPool] = static_cast<double>(spanline::PoolFullSince(now, idle, &number));
  of->cells[kOpenPoolNumber] = static_cast<double>(number);
  info.GetReturnValue().Set(static_cast<double>(now));
}

}  // namespace

void spanline::ExportTimeline(v8::Local<v8::Object> exports) {
  NODE_SET_METHOD(exports, "timelineStart", Start);
  NODE_SET_METHOD(exports, "timelineStop", StopNow);
  NODE_SET_METHOD(exports, "timelineNow", Now);
  NODE_SET_METHOD(exports, "timelineOpen", Open);
}
