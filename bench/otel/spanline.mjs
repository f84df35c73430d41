// Subject: spanline's provider, recording to a reporter that does nothing.
import * as api from '@opentelemetry/api';
import { flush, setReporter } from '../../dist/esm/index.js';
import { SpanlineTracerProvider } from '../../dist/esm/otel/index.js';
import { apiCases } from './cases.mjs';

setReporter({ name: 'noop', keepsNoTrace: true, report() {} });
const provider = new SpanlineTracerProvider();
provider.register();

export const subject = 'spanline';
export const cases = apiCases({ api, tracer: provider.getTracer('bench'), drain: () => flush() });
