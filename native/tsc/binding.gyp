{
  "target_defaults": {
    "cflags": ["-fvisibility=hidden", "-Wall", "-Wextra"],
    "cflags_cc": ["-O2", "-Wno-unused-parameter", "-Wno-cast-function-type"],
    "cflags_cc!": ["-O3"],
    "configurations": {"Release": {"ldflags": ["-Wl,--gc-sections"]}}
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
      "sources": ["src/fast_call.cc"]
    }
  ]
}
