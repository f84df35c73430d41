// The notes of one thread: a bounded ring that its signal handler fills and its JavaScript empties. The writer may interrupt
// the reader at any instruction, so nothing here locks, allocates or waits; a full ring refuses and counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace spanline {

// What the handler saw around one sample of V8's. Times are CLOCK_MONOTONIC, before and after V8 took its sample.
struct Note {
  uint64_t from_ns;
  uint64_t to_ns;
  uint64_t cpu_ns;  // of the thread, since it began
  int32_t label;
};

class NoteRing {
 public:
  // capacity: a power of two. cell: two numbers that outlive the ring: the label of the thread, and what becomes 1 with
  // every sample, for JavaScript to see which labels were met.
  NoteRing(int32_t* cell, uint32_t capacity) : cell_(cell), mask_(capacity - 1), notes_(new Note[capacity]) {}

  int32_t Label() const { return cell_[0]; }

  // Signal handler only.
  void Write(const Note& note) {
    cell_[1] = 1;
    const uint32_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    notes_[head & mask_] = note;
    head_.store(head + 1, std::memory_order_release);
  }

  // False when there is none.
  bool Read(Note* note) {
    const uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    *note = notes_[tail & mask_];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  uint32_t Refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  volatile int32_t* const cell_;
  const uint32_t mask_;
  const std::unique_ptr<Note[]> notes_;
  std::atomic<uint32_t> head_{0};
  std::atomic<uint32_t> tail_{0};
  std::atomic<uint32_t> refused_{0};
};

static_assert(std::atomic<uint32_t>::is_always_lock_free, "a lock in a signal handler would be a deadlock");

}  // namespace spanline
