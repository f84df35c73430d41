// Whether two answers come from one and the same version of an object. Bytes of two versions must never be mixed.
import { ChangedError } from '../../graph-error.js';

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
