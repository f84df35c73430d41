{
  "includes": ["../../../../native/common/addon.gypi"],
  "variables": {"standalone": "src/standalone.cc", "common": "../../../../native/common"},
  "targets": [
    {
      "target_name": "sigprof",
      "sources": ["src/addon.cc", "src/handler.cc", "src/threads.cc"],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"]
    }
  ]
}
