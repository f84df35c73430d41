// One stream of rows from the server. It counts as whole only when the server said so: a stream that just ends is a failure.
import type { protos } from '@google-cloud/bigtable';
import { callOptions, type DataClient, type ResponseStream } from './client.js';
import { STATUS } from './grpc-errors.js';
import { type RowListener, RowMerger } from './row-merger.js';

type Request = protos.google.bigtable.v2.IReadRowsRequest;
type Response = protos.google.bigtable.v2.IReadRowsResponse;

/** How a stream ended. */
export type StreamEnd =
  | { readonly isWhole: true; readonly error?: undefined }
  | { readonly isWhole: false; readonly error: unknown };

/** What a stream reports; nothing after `onEnd` or `cancel`. */
interface StreamListener {
  readonly onRow: RowListener;
  /** After every answer; `scannedTo` is a row up to which the server found nothing more. */
  readonly onData: (scannedTo: Buffer | undefined) => void;
  readonly onEnd: (end: StreamEnd) => void;
}

/** A stream that runs. */
export interface ReadStream {
  pause(): void;
  resume(): void;
  /** Ends it at the server too. */
  cancel(): void;
}

/** Send `request` and report what comes. */
export const streamRows = (
  client: DataClient,
  request: Request,
  qualifiers: ReadonlySet<string> | undefined,
  lastKey: Buffer | undefined,
  timeoutMs: number,
  { onRow, onData, onEnd }: StreamListener,
): ReadStream => {
  const stream = client.readRows(request, callOptions(timeoutMs)) as unknown as ResponseStream<Response>;
  const merger = new RowMerger(onRow, qualifiers, lastKey);
  let isOver = false;
  let status: { readonly code: number; readonly details?: string } | undefined;

  const over = (end: StreamEnd): void => {
    if (isOver) return;
    isOver = true;
    onEnd(end);
  };
  const cancel = (): void => {
    isOver = true;
    stream.cancel();
    // What is on its way must flow off, or it stays in the client's buffers.
    stream.resume();
  };

  stream
    .on('data', (response) => {
      if (isOver) return;
      try {
        merger.push(response);
      } catch (error) {
        cancel();
        onEnd({ isWhole: false, error });
        return;
      }
      const scannedTo = response.lastScannedRowKey as Buffer;
      onData(scannedTo.length > 0 ? scannedTo : undefined);
    })
    .on('status', (value) => {
      status = value;
    })
    // Stays for good: a stream that was cancelled reports that as an error.
    .on('error', (error) => over({ isWhole: false, error }))
    .on('end', () => {
      if (status?.code === STATUS.ok && !merger.isInRow) {
        over({ isWhole: true });
        return;
      }
      const how = status === undefined ? 'without a status' : `with status ${status.code} ${status.details ?? ''}`;
      const message = `the stream of rows ended ${merger.isInRow ? 'inside a row, ' : ''}${how}`;
      // Said to be fine, or nothing said: a connection that broke. The rows so far are good, and the read may go on behind them.
      const code = status === undefined || status.code === STATUS.ok ? STATUS.unavailable : status.code;
      over({ isWhole: false, error: Object.assign(new Error(message), { code }) });
    });
  return { pause: () => stream.pause(), resume: () => stream.resume(), cancel };
};
