// The Node-API face of the clock: thin bindings, numbers in and out. Decisions (which source, when to calibrate) are
// made in TypeScript, where they can be read and tested.
#include <napi.h>

#include "calibrate.h"
#include "clock_state.h"
#include "ticks.h"

namespace spanline {
namespace {

Napi::Value NowSlow(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), Now()); }

// The address of Now(), for the fast-call wrapper of one Node ABI.
Napi::Value NowAddress(const Napi::CallbackInfo& info) {
  return Napi::BigInt::New(info.Env(), static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&Now)));
}

Napi::Value Features(const Napi::CallbackInfo& info) {
  Napi::Object out = Napi::Object::New(info.Env());
#if defined(__x86_64__)
  const CpuFeatures found = DetectFeatures();
  out.Set("invariantTsc", found.invariant_tsc);
  out.Set("rdtscp", found.rdtscp);
  out.Set("cntvctHz", 0);
#elif defined(__aarch64__)
  out.Set("invariantTsc", false);
  out.Set("rdtscp", false);
  out.Set("cntvctHz", static_cast<double>(CounterHz()));
#else
  out.Set("invariantTsc", false);
  out.Set("rdtscp", false);
  out.Set("cntvctHz", 0);
#endif
  return out;
}

Napi::Value Claim(const Napi::CallbackInfo& info) {
  const auto wanted = static_cast<Source>(info[0].As<Napi::Number>().Int32Value());
  return Napi::Number::New(info.Env(), static_cast<int>(ClaimSource(wanted)));
}

// cpu, ticks since the anchor, CLOCK_MONOTONIC in ns, bracket in ticks.
void Append(Napi::Env env, Napi::Array* out, const Pair& pair) {
  const double ticks = static_cast<double>(static_cast<int64_t>(pair.raw_ticks - BaseTicks()));
  for (double value : {static_cast<double>(pair.cpu), ticks, static_cast<double>(pair.mono_ns),
                       static_cast<double>(pair.bracket)}) {
    out->Set(out->Length(), Napi::Number::New(env, value));
  }
}

Napi::Value OnePair(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  Append(info.Env(), &out, TakePair());
  return out;
}

Napi::Value PairPerCpu(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  for (const Pair& pair : TakePairPerCpu()) Append(info.Env(), &out, pair);
  return out;
}

void CpuOffset(const Napi::CallbackInfo& info) {
  SetCpuOffset(info[0].As<Napi::Number>().Uint32Value(), info[1].As<Napi::Number>().Int64Value(),
               info[2].As<Napi::Boolean>().Value());
}

void FallbackLine(const Napi::CallbackInfo& info) {
  SetFallbackLine(static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value()),
                  info[1].As<Napi::Number>().DoubleValue(), info[2].As<Napi::Number>().DoubleValue());
}

void Degrade(const Napi::CallbackInfo&) { DegradeToMonotonic(); }

void Inject(const Napi::CallbackInfo& info) {
  InjectOffset(info[0].As<Napi::Number>().Uint32Value(), info[1].As<Napi::Number>().Int64Value());
}

Napi::Value UnknownCpus(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(UnknownCpuReadings()));
}

// Wall clock and ticks read together: [ticks, unix seconds, nanoseconds], the tightest of three.
Napi::Value Anchor(const Napi::CallbackInfo& info) {
  double best = -1;
  double ticks = 0;
  timespec wall{};
  for (int i = 0; i < 3; i++) {
    timespec at;
    const double before = Now();
    clock_gettime(CLOCK_REALTIME, &at);
    const double after = Now();
    if (best >= 0 && after - before >= best) continue;
    best = after - before;
    ticks = before + best / 2;
    wall = at;
  }
  Napi::Array out = Napi::Array::New(info.Env(), 3);
  out.Set(0u, ticks);
  out.Set(1u, static_cast<double>(wall.tv_sec));
  out.Set(2u, static_cast<double>(wall.tv_nsec));
  return out;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  const auto add = [&](const char* name, auto function) { exports.Set(name, Napi::Function::New(env, function, name)); };
  add("now", NowSlow);
  add("nowAddress", NowAddress);
  add("features", Features);
  add("claimSource", Claim);
  add("pair", OnePair);
  add("pairPerCpu", PairPerCpu);
  add("setCpuOffset", CpuOffset);
  add("setFallbackLine", FallbackLine);
  add("degrade", Degrade);
  add("injectOffset", Inject);
  add("unknownCpuReadings", UnknownCpus);
  add("anchor", Anchor);
  return exports;
}

}  // namespace
}  // namespace spanline

static Napi::Object InitAddon(Napi::Env env, Napi::Object exports) { return spanline::Init(env, exports); }

NODE_API_MODULE(tsc, InitAddon)
