// SDK 3 by the names that SDK 2 has.
import { SimpleSpanProcessor as Processor } from '@opentelemetry/sdk-trace';

export * from '@opentelemetry/sdk-trace';
export { TracerProvider as BasicTracerProvider } from '@opentelemetry/sdk-trace';

export class SimpleSpanProcessor extends Processor {
  constructor(exporter) {
    super({ exporter });
  }
}
