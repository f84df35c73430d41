// The Node-API face of the label register: attach a thread's cell, stand before V8's handler, read the notes. Decisions
// (when, and what to do when it is refused) are made in TypeScript.
#include <napi.h>
#include <time.h>

#include "handler.h"
#include "note_ring.h"
#include "threads.h"

namespace spanline {
namespace {

constexpr uint32_t kMaxNotes = 1u << 20;
constexpr size_t kColumns = 4;
constexpr size_t kCells = 2;

// One for each environment (main thread, worker), gone with it.
struct Instance {
  Napi::Reference<Napi::Int32Array> cell;
  std::unique_ptr<NoteRing> ring;
  bool is_chained = false;
};

void Release(Instance* instance) {
  if (instance->is_chained) Unchain();
  instance->is_chained = false;
  DetachThread();
  instance->ring.reset();
  instance->cell.Reset();
}

Instance* Of(const Napi::CallbackInfo& info) { return static_cast<Instance*>(info.Data()); }

// attach(cell, capacity): false when the thread cannot be attached.
Napi::Value Attach(const Napi::CallbackInfo& info) {
  Instance* instance = Of(info);
  Napi::Int32Array cell = info[0].As<Napi::Int32Array>();
  const uint32_t capacity = info[1].As<Napi::Number>().Uint32Value();
  const bool is_power = capacity != 0 && (capacity & (capacity - 1)) == 0;
  if (instance->ring != nullptr || cell.ElementLength() < kCells || !is_power || capacity > kMaxNotes) {
    return Napi::Boolean::New(info.Env(), false);
  }
  instance->cell = Napi::Persistent(cell);
  instance->ring = std::make_unique<NoteRing>(cell.Data(), capacity);
  const bool is_attached = AttachThread(instance->ring.get());
  if (!is_attached) Release(instance);
  return Napi::Boolean::New(info.Env(), is_attached);
}

void Detach(const Napi::CallbackInfo& info) { Release(Of(info)); }

Napi::Value ChainOnce(const Napi::CallbackInfo& info) {
  Instance* instance = Of(info);
  if (!instance->is_chained) instance->is_chained = instance->ring != nullptr && Chain();
  return Napi::Boolean::New(info.Env(), instance->is_chained);
}

Napi::Value UnchainOnce(const Napi::CallbackInfo& info) {
  Instance* instance = Of(info);
  const bool is_clean = !instance->is_chained || Unchain();
  instance->is_chained = false;
  return Napi::Boolean::New(info.Env(), is_clean);
}

// '' nobody, 'v8', 'spanline', or the file of a foreign handler.
Napi::Value HandlerName(const Napi::CallbackInfo& info) {
  const Disposition now = CurrentHandler();
  const char* const names[] = {"", "v8", "spanline"};
  return Napi::String::New(info.Env(), now.owner == Owner::kForeign ? now.file : names[static_cast<int>(now.owner)]);
}

// drain(out): rows of (label, from ns, to ns, thread CPU ns) into a Float64Array; gives the number of rows. All below 2^53.
Napi::Value Drain(const Napi::CallbackInfo& info) {
  const Instance* instance = Of(info);
  Napi::Float64Array out = info[0].As<Napi::Float64Array>();
  const size_t room = out.ElementLength() / kColumns;
  size_t rows = 0;
  Note note;
  while (instance->ring != nullptr && rows < room && instance->ring->Read(&note)) {
    double* row = out.Data() + rows * kColumns;
    row[0] = note.label;
    row[1] = static_cast<double>(note.from_ns);
    row[2] = static_cast<double>(note.to_ns);
    row[3] = static_cast<double>(note.cpu_ns);
    rows++;
  }
  return Napi::Number::New(info.Env(), static_cast<double>(rows));
}

Napi::Value Refused(const Napi::CallbackInfo& info) {
  const Instance* instance = Of(info);
  return Napi::Number::New(info.Env(), instance->ring == nullptr ? 0 : instance->ring->Refused());
}

Napi::Value ThreadCpuNs(const Napi::CallbackInfo& info) {
  timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return Napi::Number::New(info.Env(), static_cast<double>(at.tv_sec) * 1e9 + static_cast<double>(at.tv_nsec));
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  auto* instance = new Instance();
  // On the environment's own thread, before its memory goes: from then on a late signal finds no ring.
  env.AddCleanupHook([instance] {
    Release(instance);
    delete instance;
  });
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name, instance));
  };
  add("attach", Attach);
  add("detach", Detach);
  add("chain", ChainOnce);
  add("unchain", UnchainOnce);
  add("handler", HandlerName);
  add("drain", Drain);
  add("refused", Refused);
  add("threadCpuNs", ThreadCpuNs);
  return exports;
}

}  // namespace
}  // namespace spanline

static Napi::Object InitAddon(Napi::Env env, Napi::Object exports) { return spanline::Init(env, exports); }

NODE_API_MODULE(sigprof, InitAddon)
