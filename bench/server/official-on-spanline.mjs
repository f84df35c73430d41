// Loaded into a service: OpenTelemetry's official instrumentations, recorded by spanline/otel; the reporter after SPANLINE_BENCH_MODE.
import { createRequire } from 'node:module';
import { setReporter } from 'spanline';
import { OtlpReporter } from 'spanline/exporters/otlp';
import { SpanlineTracerProvider } from 'spanline/otel';

const NOOP = { name: 'noop', keepsNoTrace: true, report() {} };

setReporter(process.env.SPANLINE_BENCH_MODE.endsWith('send') ? new OtlpReporter() : NOOP);
new SpanlineTracerProvider().register();
createRequire(import.meta.url)('./instrumentations.cjs');
