// What all addons of ours need to load with every libc. A file of this addon, for what is compiled goes beside it: by the path of the other it would
// leave the folder of what is built.
#include "../../../../../native/common/standalone.cc"
