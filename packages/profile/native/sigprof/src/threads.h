// Which thread has which ring. A fixed table and not thread-local storage: the first touch of a thread-local of a loaded
// library may allocate, which a signal handler must never do.
#pragma once

#include "note_ring.h"

namespace spanline {

constexpr int kMaxThreads = 256;

// For the calling thread. False when it has one already, or the table is full.
bool AttachThread(NoteRing* ring);

// From now on no handler on the calling thread sees its ring.
void DetachThread();

// The ring of the calling thread, or null. Async-signal-safe.
NoteRing* RingOfThread();

}  // namespace spanline
