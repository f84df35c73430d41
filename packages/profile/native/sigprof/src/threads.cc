// See threads.h.
#include "threads.h"

#include <pthread.h>

namespace spanline {
namespace {

// Only its owner changes a slot it has claimed, and only its owner's handler reads the ring.
struct Slot {
  std::atomic<bool> is_claimed{false};
  std::atomic<pthread_t> owner{};
  std::atomic<NoteRing*> ring{nullptr};
};

Slot slots[kMaxThreads];
// Slots beyond it were never claimed: a handler need not look there.
std::atomic<int> used{0};

Slot* OwnSlot() {
  const pthread_t self = pthread_self();
  const int end = used.load(std::memory_order_acquire);
  for (int i = 0; i < end; i++) {
    Slot& slot = slots[i];
    if (slot.ring.load(std::memory_order_acquire) == nullptr) continue;
    if (pthread_equal(slot.owner.load(std::memory_order_relaxed), self)) return &slot;
  }
  return nullptr;
}

}  // namespace

bool AttachThread(NoteRing* ring) {
  if (OwnSlot() != nullptr) return false;
  for (int i = 0; i < kMaxThreads; i++) {
    bool free = false;
    if (!slots[i].is_claimed.compare_exchange_strong(free, true)) continue;
    int end = used.load();
    while (end < i + 1 && !used.compare_exchange_weak(end, i + 1)) continue;
    slots[i].owner.store(pthread_self(), std::memory_order_relaxed);
    slots[i].ring.store(ring, std::memory_order_release);
    return true;
  }
  return false;
}

void DetachThread() {
  Slot* slot = OwnSlot();
  if (slot == nullptr) return;
  slot->ring.store(nullptr, std::memory_order_release);
  // The handler runs on this very thread: it came before the store above or sees it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot->is_claimed.store(false, std::memory_order_release);
}

NoteRing* RingOfThread() {
  const Slot* slot = OwnSlot();
  return slot == nullptr ? nullptr : slot->ring.load(std::memory_order_acquire);
}

}  // namespace spanline
