{
  "target_defaults": {
    "cflags": ["-fvisibility=hidden", "-Wall", "-Wextra"],
    "cflags_cc": ["-O2", "-Wno-unused-parameter", "-Wno-cast-function-type"],
    "cflags_cc!": ["-O3"],
    # nodelete: another handler may keep ours as the one to call next, so its code must stay for the life of the process.
    # now: no symbol may be looked up for the first time inside a signal handler.
    "configurations": {"Release": {"ldflags": ["-Wl,--gc-sections", "-Wl,-z,now", "-Wl,-z,nodelete"]}}
  },
  "targets": [
    {
      "target_name": "sigprof",
      "sources": ["src/addon.cc", "src/handler.cc", "src/threads.cc"],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"]
    }
  ]
}
