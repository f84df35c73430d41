{
  # Relative to the addon, which a package of its own may have elsewhere.
  "variables": {"standalone%": "../common/standalone.cc", "common%": "../common"},
  "target_defaults": {
    "cflags": ["-fvisibility=hidden", "-Wall", "-Wextra"],
    # For size: what is hot, the clock's Now(), says so itself (clock_state.cc).
    "cflags_cc": ["-Os", "-Wno-unused-parameter", "-Wno-cast-function-type"],
    "cflags_cc!": ["-O3"],
    "conditions": [
      ["OS=='linux'", {
        "sources": ["<(standalone)"],
        # Names that both glibc and musl have: no open64, no __memcpy_chk.
        "defines!": ["_LARGEFILE_SOURCE", "_FILE_OFFSET_BITS=64"],
        # Nothing is thrown, so that nobody unwinds.
        "cflags": ["-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-plt"],
        "libraries": ["-lgcc"],
        # nodefaultlibs: see standalone.cc.
        # now: a Node without a symbol we use refuses the file, where a lazy call would end the process, or come inside a signal handler.
        # nodelete: the last worker to go must not unload the clock, whose anchor is the process's and which V8 may still compile calls of; and
        # another handler of a signal may keep ours as the one to call next.
        "configurations": {"Release": {"ldflags": ["-nodefaultlibs", "-Wl,--version-script=<(module_root_dir)/<(common)/exports.map", "-Wl,--gc-sections", "-Wl,-z,now", "-Wl,-z,nodelete"]}}
      }],
      # No helpers of libgcc that ask the loader for the kind of CPU.
      ["OS=='linux' and target_arch=='arm64'", {"cflags": ["-mno-outline-atomics"]}]
    ]
  }
}
