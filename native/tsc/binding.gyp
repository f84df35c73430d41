{
  "target_defaults": {
    "cflags": ["-fvisibility=hidden", "-Wall", "-Wextra"],
    "cflags_cc": ["-O2", "-Wno-unused-parameter", "-Wno-cast-function-type"],
    "cflags_cc!": ["-O3"],
    # now: a Node without a symbol we use refuses the file, where a lazy call would end the process.
    # nodelete: the last worker to go must not unload the clock: its anchor is the process's, and V8 may still compile calls.
    "configurations": {"Release": {"ldflags": ["-Wl,--gc-sections", "-Wl,-z,now", "-Wl,-z,nodelete"]}}
  },
  "targets": [
    {
      "target_name": "tsc",
      "sources": ["src/addon.cc", "src/calibrate.cc", "src/clock_state.cc"],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"]
    },
    {
      "target_name": "tsc_fast",
      "sources": ["src/fast_call.cc", "src/heap_limit.cc", "src/lane.cc"]
    }
  ]
}
