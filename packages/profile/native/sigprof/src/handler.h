// The SIGPROF handler that stands before V8's, and its installation. Process-wide: V8 has one handler for all threads.
// The handler must never allocate, lock, throw or change errno.
#pragma once

#include <string>

namespace spanline {

enum class Owner { kNobody, kV8, kOurs, kForeign };

struct Disposition {
  Owner owner;
  std::string file;  // of a foreign handler, as far as the loader knows it
};

// Who handles SIGPROF now.
Disposition CurrentHandler();

// Put ours before V8's, once for each thread that profiles (counted). False when the current handler is neither V8's nor
// ours: nothing is changed then.
bool Chain();

// Take back one Chain(); the last takes the handler out. False when a stranger put its own before ours meanwhile: ours
// stays and passes on, because the stranger may call it.
bool Unchain();

}  // namespace spanline
