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

// cpu, ticks, CLOCK_MONOTONIC in ns (both counted from the anchor), bracket in ticks.
void Append(Napi::Env env, Napi::Array* out, const Pair& pair, int64_t ticks) {
  const auto mono = static_cast<int64_t>(pair.mono_ns - BaseMonoNs());
  for (double value : {static_cast<double>(pair.cpu), static_cast<double>(ticks), static_cast<double>(mono),
                       static_cast<double>(pair.bracket)}) {
    out->Set(out->Length(), Napi::Number::New(env, value));
  }
}

// Ticks of the clock.
Napi::Value OnePair(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  const Pair pair = TakePair();
  Append(info.Env(), &out, pair, ToClock(pair.cpu, pair.raw_ticks, pair.mono_ns));
  return out;
}

// Ticks of each core's own counter.
Napi::Value PairPerCpu(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  for (const Pair& pair : TakePairPerCpu()) {
    Append(info.Env(), &out, pair, static_cast<int64_t>(pair.raw_ticks - BaseTicks()));
  }
  return out;
}

// (cpu, offset, error for each core), CLOCK_MONOTONIC, ticks, ns per tick.
void PublishCores(const Napi::CallbackInfo& info) {
  const Napi::Array flat = info[0].As<Napi::Array>();
  const auto number = [&](uint32_t i) { return flat.Get(i).As<Napi::Number>().Int64Value(); };
  std::vector<CoreOffset> cores;
  for (uint32_t i = 0; i + 2 < flat.Length(); i += 3) {
    const int64_t cpu = number(i);
    if (cpu >= 0 && cpu < kMaxCpus) cores.push_back({static_cast<uint32_t>(cpu), number(i + 1), number(i + 2)});
  }
  Publish(cores, {info[1].As<Napi::Number>().Int64Value(), info[2].As<Napi::Number>().Int64Value(),
                  info[3].As<Napi::Number>().DoubleValue()});
}

Napi::Value LastPublished(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(PublishedAt()));
}

Napi::Value CpuOffsets(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  for (const CoreOffset& core : Offsets()) {
    for (double value : {static_cast<double>(core.cpu), static_cast<double>(core.ticks),
                         static_cast<double>(core.error)}) {
      out.Set(out.Length(), Napi::Number::New(info.Env(), value));
    }
  }
  return out;
}

Napi::Value GiveUp(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<int>(GiveUpTsc()));
}

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
  add("publish", PublishCores);
  add("publishedAt", LastPublished);
  add("cpuOffsets", CpuOffsets);
  add("giveUpTsc", GiveUp);
  add("injectOffset", Inject);
  add("unknownCpuReadings", UnknownCpus);
  add("anchor", Anchor);
  return exports;
}

}  // namespace
}  // namespace spanline

static Napi::Object InitAddon(Napi::Env env, Napi::Object exports) { return spanline::Init(env, exports); }

NODE_API_MODULE(tsc, InitAddon)
