{
  "includes": ["../common/addon.gypi"],
  "targets": [
    {
      "target_name": "tsc",
      "sources": ["src/addon.cc", "src/calibrate.cc", "src/clock_state.cc"],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"]
    },
    {
      "target_name": "tsc_fast",
      "sources": ["src/fast_call.cc", "src/heap_limit.cc", "src/timeline.cc", "src/map_file.cc", "src/pool_probe.cc"]
    }
  ]
}
