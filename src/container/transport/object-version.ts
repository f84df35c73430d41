// Which bytes of which version of an object an answer has, by its headers. Nothing is believed that does not fit together; bytes of two
// versions must never be mixed.
import { ChangedError } from '../graph-error.js';

/** The bytes of an answer; `size` is undefined where the server does not tell it. */
export interface ContentRange {
  readonly start: number;
  /** Behind the last byte. */
  readonly end: number;
  readonly size: number | undefined;
}

/** `bytes 0-99/1234` and `bytes 0-99/*`; undefined for everything else, a range outside of its file included. */
export const parseContentRange = (text: string | null): ContentRange | undefined => {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(text?.trim() ?? '');
  if (match === null) return undefined;
  const [start, last] = [Number(match[1]), Number(match[2])];
  const size = match[3] === '*' ? undefined : Number(match[3]);
  const fits = start <= last && (size === undefined || last < size);
  return fits ? { start, end: last + 1, size } : undefined;
};

/** The size in the `bytes * /1234` of an answer that has no such bytes. */
export const sizeWithoutRange = (text: string | null): number | undefined => {
  const match = /^bytes \*\/(\d{1,15})$/i.exec(text?.trim() ?? '');
  return match === null ? undefined : Number(match[1]);
};

/** What is known of the object: learnt from the first answer, asked for and compared ever after. */
export class ObjectIdentity {
  private etag: string | undefined;
  private lastModified: string | undefined;
  /** Bytes of the object, once known. */
  size: number | undefined;

  constructor(private readonly name: string) {}

  /** Headers that make a server refuse (412) when the object is another one by now. */
  conditions(): Record<string, string> {
    // A weak tag never matches here, by the rules of HTTP; it is compared in the answer.
    if (this.etag !== undefined) return this.etag.startsWith('W/') ? {} : { 'if-match': this.etag };
    return this.lastModified === undefined ? {} : { 'if-unmodified-since': this.lastModified };
  }

  /** Throws `ChangedError` unless an answer fits those before it. */
  check(headers: Headers, size: number | undefined): void {
    const etag = headers.get('etag') ?? undefined;
    const lastModified = headers.get('last-modified') ?? undefined;
    this.etag ??= etag;
    this.lastModified ??= lastModified;
    this.size ??= size;
    if (etag !== undefined && etag !== this.etag) throw this.changed(`its tag was ${this.etag} and is ${etag}`);
    // Servers of one object may disagree about its time, but not about its tag.
    if (etag === undefined && lastModified !== undefined && lastModified !== this.lastModified) {
      throw this.changed(`it was modified ${lastModified}, before that ${this.lastModified}`);
    }
    if (size !== undefined && size !== this.size) throw this.changed(`it had ${this.size} bytes and has ${size}`);
  }

  changed(how: string): ChangedError {
    return new ChangedError(`${this.name} changed while it was open: ${how}; open it again`);
  }
}
