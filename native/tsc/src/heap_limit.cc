// Writes what the flight recorder holds to a file when the heap is close to its limit. V8 calls back in the middle of a garbage collection, where no
// JavaScript may run and nothing may be allocated on its heap: everything written here was handed over before, as memory outside of the heap.
#include "heap_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kCrcAt = 12;

struct Held {
  std::shared_ptr<v8::BackingStore> store;
  size_t bytes;
};

// Of the main thread, the only one that has a recorder.
struct Watch {
  std::string path;
  std::string partial;
  std::vector<uint8_t> head;
  std::deque<Held> blocks;
  bool is_on = false;
};

Watch watch;

uint32_t Crc32(const uint8_t* bytes, size_t length) {
  static uint32_t table[256];
  if (table[1] == 0) {
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; bit++) value = (value & 1) != 0 ? 0xedb88320u ^ (value >> 1) : value >> 1;
      table[i] = value;
    }
  }
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < length; i++) crc = table[(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

bool WriteAll(int file, const uint8_t* bytes, size_t length) {
  while (length > 0) {
    const ssize_t written = write(file, bytes, length);
    if (written <= 0) return false;
    bytes += written;
    length -= static_cast<size_t>(written);
  }
  return true;
}

bool WriteBlock(int file, const Held& held) {
  const auto* bytes = static_cast<const uint8_t*>(held.store->Data());
  uint8_t header[kHeaderBytes];
  memcpy(header, bytes, kHeaderBytes);
  const uint32_t crc = Crc32(bytes + kHeaderBytes, held.bytes - kHeaderBytes);
  memcpy(header + kCrcAt, &crc, sizeof crc);
  return WriteAll(file, header, kHeaderBytes) && WriteAll(file, bytes + kHeaderBytes, held.bytes - kHeaderBytes);
}

void WriteFile() {
  const int file = open(watch.partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  bool is_whole = WriteAll(file, watch.head.data(), watch.head.size());
  for (const Held& held : watch.blocks) is_whole = is_whole && WriteBlock(file, held);
  close(file);
  if (!is_whole || rename(watch.partial.c_str(), watch.path.c_str()) != 0) unlink(watch.partial.c_str());
}

// The limit stays as it is: what becomes of the process is not ours to decide.
size_t NearLimit(void* data, size_t current, size_t) {
  auto* isolate = static_cast<v8::Isolate*>(data);
  WriteFile();
  watch.is_on = false;
  isolate->RemoveNearHeapLimitCallback(NearLimit, 0);
  return current;
}

void Stop(v8::Isolate* isolate) {
  if (watch.is_on) isolate->RemoveNearHeapLimitCallback(NearLimit, 0);
  watch = Watch{};
}

// heapLimitStart(path: string): write to `path` when the heap is close to its limit.
void Start(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  if (info.Length() < 1 || !info[0]->IsString()) return;
  Stop(isolate);
  watch.path = *v8::String::Utf8Value(isolate, info[0]);
  watch.partial = watch.path + ".partial";
  watch.is_on = true;
  isolate->AddNearHeapLimitCallback(NearLimit, isolate);
}

// heapLimitHead(head: Uint8Array): what comes first in the file from now on.
void SetHead(const v8::FunctionCallbackInfo<v8::Value>& info) {
  if (info.Length() < 1 || !info[0]->IsUint8Array()) return;
  const auto view = info[0].As<v8::Uint8Array>();
  watch.head.resize(view->ByteLength());
  view->CopyContents(watch.head.data(), watch.head.size());
}

// heapLimitAdd(block: ArrayBuffer, bytes: number): a further block, of so many bytes.
void Add(const v8::FunctionCallbackInfo<v8::Value>& info) {
  if (info.Length() < 2 || !info[0]->IsArrayBuffer() || !info[1]->IsUint32()) return;
  std::shared_ptr<v8::BackingStore> store = info[0].As<v8::ArrayBuffer>()->GetBackingStore();
  const size_t bytes = info[1].As<v8::Uint32>()->Value();
  if (bytes >= kHeaderBytes && bytes <= store->ByteLength()) watch.blocks.push_back({std::move(store), bytes});
}

// heapLimitDrop(): the oldest block is not held any more.
void Drop(const v8::FunctionCallbackInfo<v8::Value>&) {
  if (!watch.blocks.empty()) watch.blocks.pop_front();
}

// heapLimitReplace(place: number, block: ArrayBuffer, bytes: number): another block in the place of one, counted from the oldest on.
void Replace(const v8::FunctionCallbackInfo<v8::Value>& info) {
  if (info.Length() < 3 || !info[0]->IsUint32() || !info[1]->IsArrayBuffer() || !info[2]->IsUint32()) return;
  std::shared_ptr<v8::BackingStore> store = info[1].As<v8::ArrayBuffer>()->GetBackingStore();
  const size_t place = info[0].As<v8::Uint32>()->Value();
  const size_t bytes = info[2].As<v8::Uint32>()->Value();
  if (place < watch.blocks.size() && bytes >= kHeaderBytes && bytes <= store->ByteLength())
    watch.blocks[place] = {std::move(store), bytes};
}

void StopCall(const v8::FunctionCallbackInfo<v8::Value>& info) { Stop(info.GetIsolate()); }

}  // namespace

void ExportHeapLimit(v8::Local<v8::Object> exports) {
  NODE_SET_METHOD(exports, "heapLimitStart", Start);
  NODE_SET_METHOD(exports, "heapLimitHead", SetHead);
  NODE_SET_METHOD(exports, "heapLimitAdd", Add);
  NODE_SET_METHOD(exports, "heapLimitDrop", Drop);
  NODE_SET_METHOD(exports, "heapLimitReplace", Replace);
  NODE_SET_METHOD(exports, "heapLimitStop", StopCall);
}
