// What the standard variables ask for, one by one: an empty one counts as not set, an unknown value gives one warning and the default.
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/register/settings.js';

const read = (env: NodeJS.ProcessEnv) => {
  const warnings: string[] = [];
  return { ...readSettings(env, (message) => warnings.push(message)), warnings };
};

test('nothing set: the defaults of the specification, and no warning', () => {
  expect(read({})).toEqual({
    isDisabled: false,
    level: 'info',
    exporters: ['otlp'],
    metrics: [],
    archive: undefined,
    spool: 'spanline-spool',
    sampler: 'parentbased_always_on',
    samplerShare: undefined,
    propagators: ['tracecontext', 'baggage'],
    bounds: {
      reportIntervalMs: undefined,
      reportTimeoutMs: undefined,
      maxBatchSpans: undefined,
      maxQueuedBytes: undefined,
      maxPropertiesPerSpan: undefined,
      maxEventsPerSpan: undefined,
      maxLinksPerSpan: undefined,
    },
    apiLimits: {
      attributeValueLengthLimit: undefined,
      attributePerEventCountLimit: undefined,
      attributePerLinkCountLimit: undefined,
    },
    enabled: undefined,
    disabled: [],
    databasesNeedParent: false,
    warnings: [],
  });
});

test('empty variables count as not set', () => {
  const names = [
    'OTEL_TRACES_EXPORTER',
    'OTEL_TRACES_SAMPLER',
    'OTEL_PROPAGATORS',
    'OTEL_BSP_SCHEDULE_DELAY',
    'OTEL_LOG_LEVEL',
  ];
  expect(read(Object.fromEntries(names.map((name) => [name, ' '])))).toEqual(read({}));
});

test.each([
  ['OTEL_SDK_DISABLED', 'True', { isDisabled: true }],
  ['OTEL_SDK_DISABLED', 'false', { isDisabled: false }],
  ['OTEL_LOG_LEVEL', 'DEBUG', { level: 'debug' }],
  ['OTEL_TRACES_EXPORTER', 'console, otlp,console', { exporters: ['console', 'otlp'] }],
  ['OTEL_TRACES_EXPORTER', 'none', { exporters: [] }],
  ['OTEL_TRACES_EXPORTER', 'jaeger', { exporters: ['jaeger'] }],
  ['SPANLINE_ARCHIVE', '/traces', { archive: '/traces', exporters: [] }],
  ['OTEL_TRACES_SAMPLER', 'always_off', { sampler: 'always_off' }],
  ['OTEL_PROPAGATORS', 'b3multi,tracecontext', { propagators: ['b3multi', 'tracecontext'] }],
  ['OTEL_BSP_SCHEDULE_DELAY', '200', { bounds: expect.objectContaining({ reportIntervalMs: 200 }) }],
  ['OTEL_BSP_SCHEDULE_DELAY', '0', { bounds: expect.objectContaining({ reportIntervalMs: 1 }) }],
  ['OTEL_BSP_EXPORT_TIMEOUT', '9000', { bounds: expect.objectContaining({ reportTimeoutMs: 9000 }) }],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '64', { bounds: expect.objectContaining({ maxBatchSpans: 64 }) }],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '4096', { bounds: expect.objectContaining({ maxQueuedBytes: 2 << 20 }) }],
  ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', '7', { bounds: expect.objectContaining({ maxPropertiesPerSpan: 7 }) }],
  ['OTEL_ATTRIBUTE_COUNT_LIMIT', '9', { bounds: expect.objectContaining({ maxPropertiesPerSpan: 9 }) }],
  ['OTEL_SPAN_EVENT_COUNT_LIMIT', '5', { bounds: expect.objectContaining({ maxEventsPerSpan: 5 }) }],
  ['OTEL_SPAN_LINK_COUNT_LIMIT', '3', { bounds: expect.objectContaining({ maxLinksPerSpan: 3 }) }],
  [
    'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    '40',
    { apiLimits: expect.objectContaining({ attributeValueLengthLimit: 40 }) },
  ],
  [
    'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    '30',
    { apiLimits: expect.objectContaining({ attributeValueLengthLimit: 30 }) },
  ],
  ['OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT', '2', { apiLimits: expect.objectContaining({ attributePerEventCountLimit: 2 }) }],
  ['OTEL_LINK_ATTRIBUTE_COUNT_LIMIT', '0', { apiLimits: expect.objectContaining({ attributePerLinkCountLimit: 0 }) }],
  ['OTEL_NODE_ENABLED_INSTRUMENTATIONS', 'http, pg', { enabled: ['http', 'pg'] }],
  ['OTEL_NODE_DISABLED_INSTRUMENTATIONS', 'fs,dns', { disabled: ['fs', 'dns'] }],
  ['SPANLINE_DATABASES_REQUIRE_PARENT', 'true', { databasesNeedParent: true }],
])('%s=%s', (name, value, expected) => {
  expect(read({ [name]: value })).toMatchObject({ ...expected, warnings: [] });
});

test('an archive beside an exporter that is named', () => {
  const env = { SPANLINE_ARCHIVE: '/traces', OTEL_TRACES_EXPORTER: 'otlp' };
  expect(read(env)).toMatchObject({ archive: '/traces', exporters: ['otlp'] });
});

test('the argument of a sampler is read only for one that takes it', () => {
  expect(read({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }).samplerShare).toBe(0.25);
  expect(read({ OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: 'x' })).toMatchObject({ warnings: [] });
});

describe('a wrong value gives one warning that names variable, value and what is used', () => {
  test.each([
    ['OTEL_SDK_DISABLED', 'yes', 'true or false', 'false is used'],
    ['OTEL_LOG_LEVEL', 'loud', 'none, error, warn', 'info is used'],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'otlp, jaeger, console, none', 'otlp is used'],
    ['OTEL_TRACES_SAMPLER', 'rate', 'always_on', 'parentbased_always_on is used'],
    ['OTEL_PROPAGATORS', 'xray', 'tracecontext', 'tracecontext,baggage is used'],
    ['OTEL_BSP_SCHEDULE_DELAY', '-1', 'a whole number from 0 on', 'the default is used'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '1e999', 'a whole number from 1 on', 'the default is used'],
  ])('%s=%s', (name, value, rule, used) => {
    const { warnings, ...settings } = read({ [name]: value });
    expect(warnings).toEqual([expect.stringMatching(`^${name} must be .*${rule}.*not "${value}"; ${used}\\.$`)]);
    expect({ ...settings, warnings: [] }).toEqual(read({}));
  });
  test('a share beyond 1', () => {
    const { warnings, samplerShare } = read({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10' });
    expect([samplerShare, warnings.length]).toEqual([undefined, 1]);
  });
  test('the known ones of a list stay', () => {
    expect(read({ OTEL_TRACES_EXPORTER: 'zipkin,console' })).toMatchObject({
      exporters: ['console'],
      warnings: [expect.any(String)],
    });
  });
});
