// A Bigtable service that does what a test wants: answers, breaks off, hangs. Speaks gRPC over HTTP/2 by itself, because the point
// is what a healthy server never sends.
import { once } from 'node:events';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type INamespace, Root, type Type } from 'protobufjs';

// The client's own description of the protocol.
const root = Root.fromJSON(
  createRequire(import.meta.url)('@google-cloud/bigtable/build/protos/protos.json') as INamespace,
);

/** Types of request and answer. */
const TYPES: Readonly<Record<string, readonly Type[]>> = Object.fromEntries(
  [
    ['ReadRows', 'v2.ReadRowsRequest', 'v2.ReadRowsResponse'],
    ['MutateRows', 'v2.MutateRowsRequest', 'v2.MutateRowsResponse'],
    ['CheckAndMutateRow', 'v2.CheckAndMutateRowRequest', 'v2.CheckAndMutateRowResponse'],
    ['ReadModifyWriteRow', 'v2.ReadModifyWriteRowRequest', 'v2.ReadModifyWriteRowResponse'],
    ['SampleRowKeys', 'v2.SampleRowKeysRequest', 'v2.SampleRowKeysResponse'],
    ['GetTable', 'admin.v2.GetTableRequest', 'admin.v2.Table'],
  ].map(([method, ...names]) => [method, names.map((name) => root.lookupType(`google.bigtable.${name}`))]),
);

/** One call that arrived. */
export interface Call {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: each method has another request
  readonly request: any;
  readonly headers: IncomingHttpHeaders;
  readonly stream: ServerHttp2Stream;
  /** Send one answer; false when the caller's window is full. */
  send(response: object): boolean;
  /** End with a status, 0 for fine. */
  end(status?: number, message?: string): void;
}

export type Handler = (call: Call) => void;

const frame = (bytes: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};

/** A service whose methods are `handlers`, changeable while it runs. */
export class FakeService {
  readonly calls: Call[] = [];
  private constructor(
    private readonly server: Http2Server,
    readonly handlers: Record<string, Handler>,
  ) {}

  static async start(handlers: Record<string, Handler> = {}): Promise<FakeService> {
    const server = createServer();
    const service = new FakeService(server, {
      GetTable: (call) => {
        call.send({ columnFamilies: { V: {}, S: {} } });
        call.end();
      },
      ...handlers,
    });
    server.on('stream', (stream, headers) => void service.answer(stream, headers));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return service;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The calls of one method. */
  of(method: string): Call[] {
    return this.calls.filter((call) => call.method === method);
  }

  stop(): void {
    this.server.close();
    for (const { stream } of this.calls) stream.session?.destroy();
  }

  private async answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    stream.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const method = String(headers[':path']).split('/').pop() as string;
    const [requestType, responseType] = TYPES[method] as readonly [Type, Type];
    const request = requestType.toObject(requestType.decode(Buffer.concat(chunks).subarray(5)), { longs: String });
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    const call: Call = {
      method,
      request,
      headers,
      stream,
      send: (response) => stream.write(frame(responseType.encode(responseType.fromObject(response)).finish())),
      end: (status = 0, message = '') => {
        stream.once('wantTrailers', () =>
          stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': message }),
        );
        stream.end();
      },
    };
    this.calls.push(call);
    this.handlers[method]?.(call);
  }
}

/** The answer with one whole row of one cell. */
export const oneRow = (key: string, value = 'v'): object => ({
  chunks: [
    {
      rowKey: Buffer.from(key),
      familyName: { value: 'V' },
      qualifier: { value: Buffer.from('c') },
      timestampMicros: 1000,
      value: Buffer.from(value),
      commitRow: true,
    },
  ],
});

/** Answer every call of a method in turn, the last one for good. */
export const inTurn = (...handlers: readonly Handler[]): Handler => {
  let turn = 0;
  return (call) => handlers[Math.min(turn++, handlers.length - 1)]?.(call);
};

/** Send these rows, then end. */
export const rowsThen =
  (keys: readonly string[], status = 0): Handler =>
  (call) => {
    for (const key of keys) call.send(oneRow(key));
    call.end(status, status === 0 ? '' : 'the test says so');
  };
