// Keeps ONNX Runtime from writing telemetry files and calling its maker's server. It reads this when its library is
// loaded, so this file is imported before the runtime. Not a setting: nobody is told otherwise.

process.env['ORT_DISABLE_TELEMETRY'] = '1';
