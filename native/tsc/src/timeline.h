// The event-loop timeline: when the loop was busy, who had it, and when garbage was collected.
#pragma once
#include <node.h>

namespace spanline {

/** Puts timelineStart, timelineStop, timelineNow and timelineOpen into `exports`. */
void ExportTimeline(v8::Local<v8::Object> exports);

}  // namespace spanline
