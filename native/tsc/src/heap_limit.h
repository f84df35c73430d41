// What the fast-call file exports for the heap's limit.
#pragma once
#include <node.h>

void ExportHeapLimit(v8::Local<v8::Object> exports);
