// Writes what the flight recorder holds to a file when a heap is full: of the main thread, where V8 gives up and the process ends; of a worker, where
// it is close to the limit and Node ends the worker. V8 calls back in the middle of an allocation, where no JavaScript may run and nothing may be
// allocated on its heap: everything written here was handed over before, as memory outside of the heap. Each thread has a watch of its own.
#include "heap_limit.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

// Node's own handler: says what happened, writes its report, and ends the process. Not in its headers, but exported by its executables; null where it
// is not.
namespace node {
#if defined(__GNUC__)
__attribute__((weak)) void OOMErrorHandler(const char* location, const v8::OOMDetails& details);
constexpr auto kOwnHandler = &OOMErrorHandler;
#else
constexpr v8::OOMErrorCallback kOwnHandler = nullptr;
#endif
}  // namespace node

namespace {

constexpr size_t kBlockHeaderBytes = 64;
constexpr size_t kCrcAt = 12;
// As flight-records.ts has them.
constexpr uint32_t kJsonMagic = 0x4a465053u;
constexpr uint32_t kVersion = 1;
constexpr size_t kJsonHeaderBytes = 16;
// What V8 gets when a callback near the limit has written the file: as much as Node gives a worker whose heap is full to end in.
constexpr size_t kMoreBytes = 16 * 1024 * 1024;
// The limit is the one of the start again when the heap is that much below it.
constexpr double kRestoredAt = 0.95;

struct Held {
  std::shared_ptr<v8::BackingStore> store;
  size_t bytes;
};

// Rows of the timeline, as JSON with commas between.
struct TimelineText {
  std::string text;
  uint32_t rows;
};

struct Watch {
  v8::Isolate* isolate;
  std::string directory;
  // What follows the moment in the name of a file.
  std::string name_end;
  // The head of the file as JSON, up to the rows of the timeline.
  std::string head;
  std::deque<TimelineText> timeline;
  uint32_t timeline_rows = 0;
  uint32_t max_timeline_rows = 0;
  // Of the timeline what may still change.
  std::string timeline_open;
  std::deque<Held> blocks;
  Held open{nullptr, 0};
  v8::Global<v8::Context> context;
  v8::Global<v8::Function> nearing;
  size_t first_limit = 0;
  uint32_t written = 0;
  // By a callback near the limit, which must be taken back, and not by the handler at the end.
  bool has_callback = false;
};

// Of all threads. A watch itself is touched by its own thread alone.
std::vector<Watch*> watches;
uv_mutex_t mutex;

Watch* Find(v8::Isolate* isolate) {
  Watch* found = nullptr;
  uv_mutex_lock(&mutex);
  for (Watch* watch : watches) {
    if (watch->isolate == isolate) found = watch;
  }
  uv_mutex_unlock(&mutex);
  return found;
}

constexpr std::array<uint32_t, 256> CrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = (value & 1) != 0 ? 0xedb88320u ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = CrcTable();

uint32_t Crc32(const void* from, size_t length) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < length; i++) crc = kCrcTable[(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffu;
}

bool WriteAll(int file, const void* from, size_t length) {
  const auto* bytes = static_cast<const uint8_t*>(from);
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
  uint8_t header[kBlockHeaderBytes];
  memcpy(header, bytes, kBlockHeaderBytes);
  const uint32_t crc = Crc32(bytes + kBlockHeaderBytes, held.bytes - kBlockHeaderBytes);
  memcpy(header + kCrcAt, &crc, sizeof crc);
  return WriteAll(file, header, kBlockHeaderBytes) &&
         WriteAll(file, bytes + kBlockHeaderBytes, held.bytes - kBlockHeaderBytes);
}

// The rows of the timeline and what is known only now, behind the head that was handed over.
std::string HeadText(const Watch& watch) {
  std::string text = watch.head;
  bool is_first = true;
  const auto add = [&](const std::string& rows) {
    if (rows.empty()) return;
    if (!is_first) text += ',';
    text += rows;
    is_first = false;
  };
  for (const TimelineText& rows : watch.timeline) add(rows.text);
  add(watch.timeline_open);
  char end[96];
  snprintf(end, sizeof end, "],\"taken\":%.17g,\"blocks\":%zu}", spanline::ClockNow(), watch.blocks.size());
  return text + end;
}

bool WriteHead(int file, const Watch& watch) {
  std::string text = HeadText(watch);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint32_t header[] = {kJsonMagic, kVersion, static_cast<uint32_t>(kJsonHeaderBytes + text.size()),
                             Crc32(text.data(), text.size())};
  static_assert(sizeof header == kJsonHeaderBytes, "the header of a record");
  return WriteAll(file, header, sizeof header) && WriteAll(file, text.data(), text.size());
}

// As snapshot-file.ts names files, so that those of one directory are in order of time.
std::string PathNow(const Watch& watch) {
  struct timespec now;
  struct tm parts;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &parts);
  char moment[64];
  snprintf(moment, sizeof moment, "%04d-%02d-%02dT%02d-%02d-%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
           parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(now.tv_nsec / 1000000));
  return watch.directory + "/" + moment + watch.name_end;
}

bool WriteFile(const Watch& watch) {
  const std::string path = PathNow(watch);
  const std::string partial = path + ".partial";
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool is_whole = WriteHead(file, watch);
  for (const Held& held : watch.blocks) is_whole = is_whole && WriteBlock(file, held);
  if (watch.open.store != nullptr) is_whole = is_whole && WriteBlock(file, watch.open);
  close(file);
  if (is_whole && rename(partial.c_str(), path.c_str()) == 0) return true;
  unlink(partial.c_str());
  return false;
}

// V8 has no memory left, and the process ends whatever is done here. The handler stays in place for good: without a watch it is Node's.
void OnOutOfMemory(const char* location, const v8::OOMDetails& details) {
  // A thread that compiles or collects has none.
  v8::Isolate* isolate = v8::Isolate::TryGetCurrent();
  const Watch* watch = isolate == nullptr ? nullptr : Find(isolate);
  if (watch != nullptr && !watch->has_callback) WriteFile(*watch);
  node::kOwnHandler(location, details);
}

// V8 asks only the callback that was added last, so this one leaves, and has V8 go on for a little: then whoever else waits for this is asked
// (--heapsnapshot-near-heap-limit, the end of a worker), and where there is nobody the process ends as it would have.
size_t NearLimit(void* data, size_t current, size_t) {
  auto* watch = static_cast<Watch*>(data);
  if (WriteFile(*watch)) watch->written++;
  watch->has_callback = false;
  watch->isolate->RemoveNearHeapLimitCallback(NearLimit, 0);
  watch->isolate->AutomaticallyRestoreInitialHeapLimit(kRestoredAt);
  return current + kMoreBytes;
}

size_t LimitOf(v8::Isolate* isolate) {
  v8::HeapStatistics statistics;
  isolate->GetHeapStatistics(&statistics);
  return statistics.heap_size_limit();
}

// Where JavaScript checks its stack limit, in the middle of any code.
void OnInterrupt(v8::Isolate* isolate, void*) {
  Watch* watch = Find(isolate);
  if (watch == nullptr) return;
  bool is_terminated = false;
  {
    v8::HandleScope scope(isolate);
    v8::Local<v8::Context> context = watch->context.Get(isolate);
    v8::Local<v8::Function> nearing = watch->nearing.Get(isolate);
    v8::Context::Scope entered(context);
    v8::MicrotasksScope none(context, v8::MicrotasksScope::kDoNotRunMicrotasks);
    v8::TryCatch caught(isolate);
    (void)nearing->Call(context, v8::Undefined(isolate), 0, nullptr);
    is_terminated = caught.HasTerminated();
  }
  // The end that somebody asked for is theirs and must not be lost here.
  if (is_terminated) isolate->TerminateExecution();
}

// A heap that fills goes from one full collection to the next, each of which takes far longer than what is asked for here.
void OnCollectionEnd(v8::Isolate* isolate, v8::GCType, v8::GCCallbackFlags) {
  isolate->RequestInterrupt(OnInterrupt, nullptr);
}

void AddCallback(Watch* watch) {
  watch->isolate->AddNearHeapLimitCallback(NearLimit, watch);
  watch->has_callback = true;
}

void End(void* data) {
  auto* watch = static_cast<Watch*>(data);
  uv_mutex_lock(&mutex);
  for (size_t i = 0; i < watches.size(); i++) {
    if (watches[i] != watch) continue;
    watches[i] = watches.back();
    watches.pop_back();
    break;
  }
  uv_mutex_unlock(&mutex);
  if (watch->has_callback) watch->isolate->RemoveNearHeapLimitCallback(NearLimit, 0);
  watch->isolate->RemoveGCEpilogueCallback(OnCollectionEnd);
  watch->nearing.Reset();
  watch->context.Reset();
  delete watch;
}

void Stop(v8::Isolate* isolate) {
  Watch* watch = Find(isolate);
  if (watch == nullptr) return;
  node::RemoveEnvironmentCleanupHook(isolate, End, watch);
  End(watch);
}

using Call = v8::FunctionCallbackInfo<v8::Value>;

std::string Text(v8::Isolate* isolate, v8::Local<v8::Value> value) {
  const v8::String::Utf8Value text(isolate, value);
  return {*text, static_cast<size_t>(text.length())};
}

// A block as the arguments from `at` on: its memory and its bytes.
bool ReadBlock(const Call& info, int at, Held* held) {
  if (info.Length() < at + 2 || !info[at]->IsArrayBuffer() || !info[at + 1]->IsUint32()) return false;
  held->store = info[at].As<v8::ArrayBuffer>()->GetBackingStore();
  held->bytes = info[at + 1].As<v8::Uint32>()->Value();
  return held->bytes >= kBlockHeaderBytes && held->bytes <= held->store->ByteLength();
}

// heapLimitStart(directory, nameEnd, isWorker, maxTimelineRows, nearing): write to a file in `directory` when the heap of this thread is full.
// `nearing` is called before that, in the middle of any code, behind each full collection.
void Start(const Call& info) {
  v8::Isolate* isolate = info.GetIsolate();
  if (info.Length() < 5 || !info[0]->IsString() || !info[1]->IsString() || !info[3]->IsUint32() || !info[4]->IsFunction())
    return;
  Stop(isolate);
  auto* watch = new Watch();
  watch->isolate = isolate;
  watch->directory = Text(isolate, info[0]);
  watch->name_end = Text(isolate, info[1]);
  watch->max_timeline_rows = info[3].As<v8::Uint32>()->Value();
  watch->context.Reset(isolate, isolate->GetCurrentContext());
  watch->nearing.Reset(isolate, info[4].As<v8::Function>());
  watch->first_limit = LimitOf(isolate);
  uv_mutex_lock(&mutex);
  watches.push_back(watch);
  uv_mutex_unlock(&mutex);
  isolate->AddGCEpilogueCallback(OnCollectionEnd, v8::kGCTypeMarkSweepCompact);
  // A thread that ends takes its heap with it.
  node::AddEnvironmentCleanupHook(isolate, End, watch);
  // A worker whose heap is full ends by Node's own callback near the limit, and the process goes on.
  if (info[2]->IsTrue() || node::kOwnHandler == nullptr) AddCallback(watch);
  else isolate->SetOOMErrorHandler(OnOutOfMemory);
}

// heapLimitHead(head): the head of the file as JSON, up to the rows of the timeline.
void SetHead(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  if (watch == nullptr || info.Length() < 1 || !info[0]->IsString()) return;
  watch->head = Text(info.GetIsolate(), info[0]);
}

// heapLimitTimeline(rows, count, open): further rows of the timeline as JSON, their number, and those that may still change.
void AddTimeline(const Call& info) {
  v8::Isolate* isolate = info.GetIsolate();
  Watch* watch = Find(isolate);
  if (watch == nullptr || info.Length() < 3 || !info[0]->IsString() || !info[1]->IsUint32() || !info[2]->IsString()) return;
  watch->timeline_open = Text(isolate, info[2]);
  const uint32_t rows = info[1].As<v8::Uint32>()->Value();
  if (rows == 0) return;
  watch->timeline.push_back({Text(isolate, info[0]), rows});
  watch->timeline_rows += rows;
  while (watch->timeline.size() > 1 && watch->timeline_rows > watch->max_timeline_rows) {
    watch->timeline_rows -= watch->timeline.front().rows;
    watch->timeline.pop_front();
  }
}

// heapLimitAdd(block, bytes): a further block, of so many bytes.
void Add(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  Held held;
  if (watch != nullptr && ReadBlock(info, 0, &held)) watch->blocks.push_back(std::move(held));
}

// heapLimitReplace(place, block, bytes): another block in the place of one, counted from the oldest on.
void Replace(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  Held held;
  if (watch == nullptr || !ReadBlock(info, 1, &held) || !info[0]->IsUint32()) return;
  const size_t place = info[0].As<v8::Uint32>()->Value();
  if (place < watch->blocks.size()) watch->blocks[place] = std::move(held);
}

// heapLimitDrop(): the oldest block is not held any more.
void Drop(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  if (watch != nullptr && !watch->blocks.empty()) watch->blocks.pop_front();
}

// heapLimitOpen(block, bytes): the spans that are open, in place of those before; without a block there are none.
void SetOpen(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  if (watch == nullptr) return;
  Held held;
  watch->open = ReadBlock(info, 0, &held) ? std::move(held) : Held{nullptr, 0};
}

// heapLimitWritten(): number of files written.
void Written(const Call& info) {
  const Watch* watch = Find(info.GetIsolate());
  info.GetReturnValue().Set(watch == nullptr ? 0 : watch->written);
}

// heapLimitRearm(): watch once more, when the limit is the one of the start again. Else each file would move the limit further.
void Rearm(const Call& info) {
  Watch* watch = Find(info.GetIsolate());
  if (watch == nullptr || watch->written == 0 || watch->has_callback || LimitOf(watch->isolate) > watch->first_limit) return;
  AddCallback(watch);
}

void StopCall(const Call& info) { Stop(info.GetIsolate()); }

}  // namespace

void ExportHeapLimit(v8::Local<v8::Object> exports) {
  static uv_once_t once = UV_ONCE_INIT;
  uv_once(&once, [] { uv_mutex_init(&mutex); });
  NODE_SET_METHOD(exports, "heapLimitStart", Start);
  NODE_SET_METHOD(exports, "heapLimitHead", SetHead);
  NODE_SET_METHOD(exports, "heapLimitTimeline", AddTimeline);
  NODE_SET_METHOD(exports, "heapLimitAdd", Add);
  NODE_SET_METHOD(exports, "heapLimitReplace", Replace);
  NODE_SET_METHOD(exports, "heapLimitDrop", Drop);
  NODE_SET_METHOD(exports, "heapLimitOpen", SetOpen);
  NODE_SET_METHOD(exports, "heapLimitWritten", Written);
  NODE_SET_METHOD(exports, "heapLimitRearm", Rearm);
  NODE_SET_METHOD(exports, "heapLimitStop", StopCall);
}
