// Wraps a C function `double f()` as a V8 fast call: optimised code calls it directly, without a frame for the callback.
//
// Not a stable interface, so this file is compiled for one Node ABI, self-tested when it is built, and loaded for that ABI
// alone. v8-fast-api-calls.h is not shipped with Node's headers, but the two constructors are exported by the
// executable; the declarations here have the same layout and the same symbol names.
#include <node.h>
#include <v8-version.h>

#include <atomic>
#include <cstdint>

#include "heap_limit.h"
#include "timeline.h"
#include "map_file.h"

namespace v8 {

struct CTypeInfo {
  uint8_t type = 0;
#if V8_MAJOR_VERSION < 14
  uint8_t sequence = 0;
#endif
  uint8_t flags = 0;
};

class V8_EXPORT CFunctionInfo {
 public:
  enum class Int64Representation : uint8_t { kNumber = 0, kBigInt = 1 };
#if NODE_MODULE_VERSION >= 120  // Node 21
  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info,
                Int64Representation repr);
#else
  CFunctionInfo(const CTypeInfo& return_info, unsigned int arg_count, const CTypeInfo* arg_info);
#endif

 private:
  // Room for whatever the real constructor writes; the real class is smaller in every line.
  alignas(16) uint8_t reserved_[64];
};

class V8_EXPORT CFunction {
 public:
  CFunction(const void* address, const CFunctionInfo* type_info);

 private:
  const void* address_;
  const CFunctionInfo* type_info_;
};

}  // namespace v8

namespace {

constexpr uint8_t kFloat64 = 8;
constexpr uint8_t kV8Value = 10;

using Clock = double (*)();

std::atomic<Clock> clock_function{nullptr};
std::atomic<uint64_t> slow_calls{0};

// What optimised code calls; the receiver is passed and not used.
double FastNow(v8::Local<v8::Value>) { return clock_function.load(std::memory_order_relaxed)(); }

// Made when the file is loaded, in this order, and read by V8 for as long as there are functions.
const v8::CTypeInfo kResult{kFloat64};
const v8::CTypeInfo kReceiver{kV8Value};
#if NODE_MODULE_VERSION >= 120
const v8::CFunctionInfo kSignature(kResult, 1, &kReceiver, v8::CFunctionInfo::Int64Representation::kNumber);
#else
const v8::CFunctionInfo kSignature(kResult, 1, &kReceiver);
#endif
const v8::CFunction kFastCall(reinterpret_cast<const void*>(&FastNow), &kSignature);

void SlowNow(const v8::FunctionCallbackInfo<v8::Value>& info) {
  slow_calls.fetch_add(1, std::memory_order_relaxed);
  info.GetReturnValue().Set(clock_function.load(std::memory_order_relaxed)());
}

// How often the slow path ran: the self-test proves by it that the fast one did.
void SlowCalls(const v8::FunctionCallbackInfo<v8::Value>& info) {
  info.GetReturnValue().Set(static_cast<double>(slow_calls.load()));
}

// wrap(address: bigint): (() => number) | undefined. There is one clock in a process: functions handed out earlier read
// the first, so a second address (files replaced under a running process) is refused.
void Wrap(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  v8::Local<v8::Context> context = isolate->GetCurrentContext();
  if (info.Length() < 1 || !info[0]->IsBigInt()) return;
  const auto wanted = reinterpret_cast<Clock>(static_cast<uintptr_t>(info[0].As<v8::BigInt>()->Uint64Value()));
  Clock first = nullptr;
  if (!clock_function.compare_exchange_strong(first, wanted) && first != wanted) return;

  v8::Local<v8::FunctionTemplate> made = v8::FunctionTemplate::New(
      isolate, SlowNow, v8::Local<v8::Value>(), v8::Local<v8::Signature>(), 0, v8::ConstructorBehavior::kThrow,
      v8::SideEffectType::kHasSideEffect, &kFastCall);
  v8::Local<v8::Function> function;
  if (made->GetFunction(context).ToLocal(&function)) info.GetReturnValue().Set(function);
}

// V8's own functions to read and set the continuation-preserved embedder data, which Node 24 and later keep the frames of the async context
// in. V8 keeps them for its embedder; optimised code has them inline. An older V8 has none.
void ExportExtra(v8::Local<v8::Context> context, v8::Local<v8::Object> exports, const char* extra, const char* name) {
  v8::Isolate* isolate = v8::Isolate::GetCurrent();
  const auto text = [isolate](const char* value) {
    return v8::String::NewFromUtf8(isolate, value, v8::NewStringType::kInternalized).ToLocalChecked();
  };
  v8::Local<v8::Value> function;
  if (!context->GetExtrasBindingObject()->Get(context, text(extra)).ToLocal(&function)) return;
  if (function->IsFunction()) exports->Set(context, text(name), function).Check();
}

}  // namespace

double spanline::ClockNow() {
  const Clock read = clock_function.load(std::memory_order_relaxed);
  return read == nullptr ? 0 : read();
}

NODE_MODULE_INIT() {
  (void)module;
  ExportExtra(context, exports, "getContinuationPreservedEmbedderData", "currentFrame");
  ExportExtra(context, exports, "setContinuationPreservedEmbedderData", "setFrame");
  NODE_SET_METHOD(exports, "wrap", Wrap);
  NODE_SET_METHOD(exports, "slowCalls", SlowCalls);
  ExportHeapLimit(exports);
  spanline::ExportTimeline(exports);
  spanline::ExportMapFile(exports);
}
