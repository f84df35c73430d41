// What the compiler's C++ library would bring, so that an addon on Linux asks for no library at all: no version of glibc, no libstdc++, and one file
// loads on glibc and on musl. Its calls to libc are answered by the Node that loads it. Nothing here may be seen outside of the addon (exports.map):
// memory that Node allocates is freed by Node's own operators, and ours by ours.
#include <stdlib.h>

#include <cstddef>
#include <new>
#include <string>

// Memory for a few rings and tables; a process that has none left cannot go on.
void* operator new(size_t bytes) {
  void* memory = malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) abort();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }

// Addons are built without exceptions: what would throw is a bug, and ends the process as an exception that nobody catches does.
namespace std {
[[noreturn]] void __throw_length_error(const char*) { abort(); }
[[noreturn]] void __throw_logic_error(const char*) { abort(); }
[[noreturn]] void __throw_system_error(int) { abort(); }
[[noreturn]] void __throw_bad_alloc() { abort(); }
[[noreturn]] void __throw_bad_array_new_length() { abort(); }

// Strings, which headers declare as being in the library.
template class basic_string<char>;
}  // namespace std

// Of glibc 2.32 and later alone. Where it is false, reference counts are atomic.
extern "C" {
char __libc_single_threaded = 0;
}
