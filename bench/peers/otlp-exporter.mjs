// The OTLP exporter of OpenTelemetry SDK 2, alone: what it loads counts. It stands here so that imports resolve to this folder's node_modules.
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
