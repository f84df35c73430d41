// What a server says about the bytes it sends. Nothing of it may be believed that does not fit together.

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
