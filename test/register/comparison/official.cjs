// Loaded into a service: OpenTelemetry's SDK with its official instrumentations, as their documents have it.
const { register } = require('node:module');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { FastifyOtelInstrumentation } = require('@fastify/otel');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { IORedisInstrumentation } = require('@opentelemetry/instrumentation-ioredis');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { RedisInstrumentation } = require('@opentelemetry/instrumentation-redis');
const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');

// Programs of ES modules are patched by a loader, in whose own thread this file is loaded too.
if (isMainThread) register('@opentelemetry/instrumentation/hook.mjs', pathToFileURL(__filename));

const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
provider.register();
registerInstrumentations({
  instrumentations: [
    new HttpInstrumentation(),
    new UndiciInstrumentation(),
    new ExpressInstrumentation(),
    new FastifyOtelInstrumentation({ registerOnInitialization: true }),
    new PgInstrumentation(),
    new RedisInstrumentation(),
    new IORedisInstrumentation(),
  ],
});
process.once('SIGTERM', () => provider.shutdown().finally(() => process.exit()));
