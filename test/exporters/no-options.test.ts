// What is not an object of options is refused by every constructor with a sentence about options, not about their letters.
import { expect, test } from 'vitest';
import { ConsoleReporter } from '../../src/exporters/console.js';
import { FileReporter } from '../../src/exporters/file.js';
import { JaegerReporter } from '../../src/exporters/jaeger.js';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { OtelSdkReporter } from '../../src/exporters/otel-sdk.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import { Collector, configure } from '../../src/index.js';

const exporter = { export: () => {}, shutdown: async () => {} };

const MAKERS: Record<string, (options: never) => unknown> = {
  Collector: (options) => new Collector(options),
  configure,
  ConsoleReporter: (options) => new ConsoleReporter(options),
  FileReporter: (options) => new FileReporter(options),
  JaegerReporter: (options) => new JaegerReporter(options),
  MemoryReporter: (options) => new MemoryReporter(options),
  OtelSdkReporter: (options) => new OtelSdkReporter(exporter, options),
  OtlpReporter: (options) => new OtlpReporter(options),
};

test.each(Object.entries(MAKERS))('%s', (_name, make) => {
  for (const wrong of [null, 'http://localhost:4318', 5]) {
    expect(() => make(wrong as never), String(wrong)).toThrow(
      expect.objectContaining({
        code: 'ERR_SPANLINE_OPTION',
        message: `Options must be an object, not ${String(wrong)}.`,
      }),
    );
  }
});

test('FileReporter, which cannot do without', () => {
  expect(() => new FileReporter(undefined as never)).toThrow('Options must be an object, not undefined.');
});
