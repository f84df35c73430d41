// A new file as memory that JavaScript writes to: what was written outlives the process, however it ends. All of its space is taken from the disk
// before it is mapped, for a store into a page that the disk has no room for ends the process.
#include "map_file.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// Zeros where the file system cannot take space any other way.
int WriteZeros(int file, size_t bytes) {
  static const char zeros[4096] = {};
  while (bytes > 0) {
    const ssize_t written = write(file, zeros, bytes < sizeof zeros ? bytes : sizeof zeros);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

int TakeSpace(int file, size_t bytes) {
  int error;
  do error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  return error == EOPNOTSUPP || error == EINVAL || error == ENOSYS ? WriteZeros(file, bytes) : error;
}

// Null with `error` set.
void* MapNew(const char* path, size_t bytes, int* error) {
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    *error = errno;
    return nullptr;
  }
  void* memory = nullptr;
  *error = TakeSpace(file, bytes);
  if (*error == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      *error = errno;
      memory = nullptr;
    }
  }
  close(file);
  if (memory == nullptr) unlink(path);
  return memory;
}

// mapFile(path: string, bytes: number): SharedArrayBuffer, or the number of the system's error; there is no file then.
void MapFile(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* isolate = info.GetIsolate();
  if (info.Length() < 2 || !info[0]->IsString() || !info[1]->IsUint32()) return;
  const size_t bytes = info[1].As<v8::Uint32>()->Value();
  const v8::String::Utf8Value path(isolate, info[0]);
  int error = 0;
  void* memory = MapNew(*path, bytes, &error);
  if (memory == nullptr) {
    info.GetReturnValue().Set(error);
    return;
  }
  // Shared, because the memory of an ordinary one would have to come from V8's own allocator.
  std::shared_ptr<v8::BackingStore> store = v8::SharedArrayBuffer::NewBackingStore(
      memory, bytes, [](void* data, size_t length, void*) { munmap(data, length); }, nullptr);
  info.GetReturnValue().Set(v8::SharedArrayBuffer::New(isolate, std::move(store)));
}

}  // namespace

void spanline::ExportMapFile(v8::Local<v8::Object> exports) { NODE_SET_METHOD(exports, "mapFile", MapFile); }
