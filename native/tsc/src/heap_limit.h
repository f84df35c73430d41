// What the fast-call file exports for the heap's limit.
#pragma once
#include <node.h>

namespace spanline {

// Ticks of the clock that the fast call reads; 0 without one.
double ClockNow();

}  // namespace spanline

void ExportHeapLimit(v8::Local<v8::Object> exports);
