// What a terminal shows: its columns, and times and sizes as a person reads them. Names come from anywhere: wide letters take two columns and joined ones none,
// and a line that is thought shorter than it is would break all that stand below each other. Every command loads it: it must load no formats.

// Made when a text first needs it: it takes 20 ms.
let segmenter: Intl.Segmenter | undefined;

const graphemesOf = (text: string): Intl.Segments => {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
};

const PLAIN = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

const widthOf = (grapheme: string): number => (NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1);

/** Columns that the text takes. */
export const displayWidth = (text: string): number => {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += widthOf(segment);
  return width;
};

/** The text, or as much of it as fits with `mark` behind it. */
export const cut = (text: string, width: number, mark: string): string => {
  if (displayWidth(text) <= width) return text;
  let left = width - displayWidth(mark);
  if (left < 0) return '';
  let end = 0;
  for (const { segment, index } of graphemesOf(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    end = index + segment.length;
  }
  return text.slice(0, end) + mark;
};

const NS_PER_S = 1_000_000_000n;

/** `2026-01-31T12:00:00.123456789Z` */
export const exactTime = (unixNs: bigint): string => {
  const seconds = unixNs / NS_PER_S;
  const fraction = String(unixNs % NS_PER_S).padStart(9, '0');
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, -5)}.${fraction}Z`;
};

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Three significant digits: `410 B`, `41.2 kB`. */
export const formatBytes = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${SIZES[unit]}`;
};

/** So many things: `1 span`, `2 spans`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
