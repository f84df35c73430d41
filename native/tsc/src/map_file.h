// What the fast-call file exports for memory that outlives the process.
#pragma once
#include <node.h>

namespace spanline {

/** Puts mapFile into `exports`. */
void ExportMapFile(v8::Local<v8::Object> exports);

}  // namespace spanline
