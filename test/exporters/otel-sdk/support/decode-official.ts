// Decodes what the official Jaeger exporter sends, with thriftrw and the definitions that ship in jaeger-client. Unlike our
// own, its tags have all five value fields set; what counts is the one that the type names.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const { Thrift } = require('thriftrw');
const clientRoot = join(dirname(require.resolve('jaeger-client/package.json')), 'dist', 'src');

const agent = new Thrift({
  entryPoint: join(clientRoot, 'thriftrw-idl', 'agent.thrift'),
  allowFilesystemAccess: true,
  allowOptionalArguments: true,
});
const jaeger = new Thrift({
  source: readFileSync(join(clientRoot, 'jaeger-idl', 'thrift', 'jaeger.thrift'), 'ascii'),
  allowOptionalArguments: true,
});

// biome-ignore lint/suspicious/noExplicitAny: thriftrw makes its classes at run time
type Raw = any;

const FIELD: Readonly<Record<string, string>> = { STRING: 'vStr', DOUBLE: 'vDouble', BOOL: 'vBool', LONG: 'vLong' };

const toTags = (raw: Raw): unknown[] => (raw ?? []).map((tag: Raw) => [tag.key, tag.vType, tag[FIELD[tag.vType]]]);

const toSpan = (raw: Raw) => ({
  traceId: raw.traceIdHigh.toString('hex') + raw.traceIdLow.toString('hex'),
  spanId: raw.spanId.toString('hex') as string,
  parentSpanId: raw.parentSpanId.toString('hex') as string,
  operationName: raw.operationName as string,
  startTime: raw.startTime.readBigInt64BE() as bigint,
  duration: raw.duration.readBigInt64BE() as bigint,
  references: raw.references.map((one: Raw) => ({ refType: one.refType, spanId: one.spanId.toString('hex') })),
  tags: toTags(raw.tags),
  logs: raw.logs.map((log: Raw) => ({ timestamp: log.timestamp.readBigInt64BE(), fields: toTags(log.fields) })),
});

const toBatch = (raw: Raw) => ({
  serviceName: raw.process.serviceName as string,
  processTags: toTags(raw.process.tags),
  spans: raw.spans.map(toSpan) as ReturnType<typeof toSpan>[],
});

export type OfficialBatch = ReturnType<typeof toBatch>;

export const decodeHttpBody = (body: Buffer): OfficialBatch => toBatch(jaeger.Batch.rw.readFrom(body, 0).value);

export const decodePacket = (packet: Buffer): OfficialBatch =>
  toBatch(agent.Agent.emitBatch.argumentsMessageRW.readFrom(packet, 0).value.body.batch);
