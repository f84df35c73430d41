// One way to every place where a graph file may be. It must not guess: a scheme it does not know is an error, not a file's name.
import { fileURLToPath } from 'node:url';
import { orThrow } from 'spanline/internal/base';
import { BadOptionsError } from '../graph-error.js';
import { BufferTransport, FileTransport, type FileTransportOptions } from './file-transport.js';
import { HttpTransport, type HttpTransportOptions } from './http-transport.js';
import { S3Transport, type S3TransportOptions } from './s3-transport.js';
import type { Transport } from './transport.js';

/** Options by the kind of place; those of the other kinds are not looked at. */
export interface OpenTransportOptions {
  readonly file?: FileTransportOptions;
  readonly http?: HttpTransportOptions;
  readonly s3?: S3TransportOptions;
}

/**
 * Opens a path, an address (`file://`, `http://`, `https://`), an object (`s3://bucket/key`) or bytes in memory for reading.
 *
 * A path is opened at once, the others with the first read.
 *
 * @example
 * ```ts
 * import { openTransport } from '@spanline/graph';
 * const transport = await openTransport(Buffer.from('hello'));
 * const { bytes, size } = await transport.readTail(2);
 * console.assert(bytes.toString() === 'lo' && size === 5);
 * ```
 */
export const openTransport = async (
  place: string | Uint8Array,
  { file, http, s3 }: OpenTransportOptions = {},
): Promise<Transport> => {
  if (typeof place !== 'string') return new BufferTransport(place);
  // A drive of Windows has one letter.
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1].toLowerCase();
  switch (scheme) {
    case undefined:
      return FileTransport.open(place, file);
    case 'http':
    case 'https':
      return new HttpTransport(place, http);
    case 's3':
      return S3Transport.open(place, s3);
    case 'file':
      return FileTransport.open(pathOf(place), file);
    default:
      throw new BadOptionsError(`${scheme}:// cannot be read: give a path, or an address of file, http, https or s3`);
  }
};

/** What `open` makes of a place or a transport, which is closed when that fails. */
export const openedFrom = async <T>(
  source: string | Uint8Array | Transport,
  open: (transport: Transport) => Promise<T>,
): Promise<T> => {
  const transport = typeof source === 'object' && 'readRanges' in source ? source : await openTransport(source);
  try {
    return await open(transport);
  } catch (error) {
    await transport.close().catch(() => {});
    throw error;
  }
};

const pathOf = (address: string): string =>
  orThrow(
    () => fileURLToPath(address),
    (cause) => new BadOptionsError(`${address} names no file of this machine`, { cause }),
  );
