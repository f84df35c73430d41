// The official exporters as benchmarks use them. It stands here so that imports resolve to this folder's node_modules.
import { createRequire } from 'node:module';
import { JaegerExporter } from '@opentelemetry/exporter-jaeger';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';

const require = createRequire(import.meta.url);
const versionOf = (name) => require(`@opentelemetry/${name}/package.json`).version;

export { JaegerExporter, JsonTraceSerializer, OTLPTraceExporter, ProtobufTraceSerializer };
export const otlpSubject = `opentelemetry-otlp@${versionOf('otlp-transformer')}`;
export const jaegerSubject = `opentelemetry-jaeger@${versionOf('exporter-jaeger')}`;
