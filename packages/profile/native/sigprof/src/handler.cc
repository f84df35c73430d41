// See handler.h.
#include "handler.h"

#include <dlfcn.h>
#include <errno.h>
#include <node_api.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <mutex>

#include "threads.h"

namespace spanline {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

// Held by whoever changes the disposition; never by the handler.
std::mutex changing;
int holders = 0;
struct sigaction v8_action {};
// What ours passes the signal on to. Never null once ours is installed, and never taken back.
std::atomic<Handler> next{nullptr};
static_assert(std::atomic<Handler>::is_always_lock_free, "a lock in a signal handler would be a deadlock");

uint64_t Read(clockid_t id) {
  timespec at;
  clock_gettime(id, &at);
  return static_cast<uint64_t>(at.tv_sec) * 1000000000u + static_cast<uint64_t>(at.tv_nsec);
}

void OnSigprof(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const Handler v8 = next.load(std::memory_order_acquire);
  NoteRing* ring = RingOfThread();
  if (ring == nullptr) {
    v8(signal, info, context);
  } else {
    Note note;
    note.label = ring->Label();
    note.cpu_ns = Read(CLOCK_THREAD_CPUTIME_ID);
    note.from_ns = Read(CLOCK_MONOTONIC);
    v8(signal, info, context);
    note.to_ns = Read(CLOCK_MONOTONIC);
    ring->Write(note);
  }
  errno = saved;
}

// The file that holds this address.
const void* BaseOf(const void* address, std::string* file) {
  Dl_info found;
  if (dladdr(address, &found) == 0) return nullptr;
  if (file != nullptr && found.dli_fname != nullptr) *file = found.dli_fname;
  return found.dli_fbase;
}

const void* AddressOf(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                             : reinterpret_cast<const void*>(action.sa_handler);
}

Disposition Judge(const struct sigaction& action) {
  const bool takes_info = (action.sa_flags & SA_SIGINFO) != 0;
  if (!takes_info && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) return {Owner::kNobody, ""};
  if (takes_info && action.sa_sigaction == &OnSigprof) return {Owner::kOurs, ""};
  std::string file;
  const void* base = BaseOf(AddressOf(action), &file);
  // V8 is linked into the file that exports Node-API. So is libuv, which serves process.on('SIGPROF'): its handler does
  // not take the information that V8 needs.
  const bool is_node = base != nullptr && base == BaseOf(reinterpret_cast<const void*>(&napi_create_function), nullptr);
  if (is_node && takes_info) return {Owner::kV8, file};
  return {Owner::kForeign, is_node ? "process.on('SIGPROF')" : file};
}

}  // namespace

Disposition CurrentHandler() {
  struct sigaction now {};
  if (sigaction(SIGPROF, nullptr, &now) != 0) return {Owner::kForeign, "sigaction"};
  return Judge(now);
}

bool Chain() {
  std::lock_guard<std::mutex> lock(changing);
  struct sigaction now {};
  if (sigaction(SIGPROF, nullptr, &now) != 0) return false;
  const Owner owner = Judge(now).owner;
  if (owner == Owner::kV8) {
    v8_action = now;
    next.store(now.sa_sigaction, std::memory_order_release);
    // V8's flags and mask: whatever it relies on holds for ours too.
    struct sigaction ours = now;
    ours.sa_sigaction = &OnSigprof;
    if (sigaction(SIGPROF, &ours, nullptr) != 0) return false;
  } else if (owner != Owner::kOurs) {
    return false;
  }
  holders++;
  return true;
}

bool Unchain() {
  std::lock_guard<std::mutex> lock(changing);
  if (holders > 0) holders--;
  if (holders > 0) return true;
  struct sigaction now {};
  if (sigaction(SIGPROF, nullptr, &now) != 0) return false;
  const Owner owner = Judge(now).owner;
  if (owner == Owner::kOurs) sigaction(SIGPROF, &v8_action, nullptr);
  return owner != Owner::kForeign;
}

}  // namespace spanline
