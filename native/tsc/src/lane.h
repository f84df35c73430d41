// The lane of the process: when its event loop was busy, who had it, and when garbage was collected.
#pragma once
#include <node.h>

namespace spanline {

/** Puts laneStart, laneStop, laneNow and laneOpen into `exports`. */
void ExportLane(v8::Local<v8::Object> exports);

}  // namespace spanline
