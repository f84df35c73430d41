// How many columns of a terminal a text takes, and texts cut to a number of columns. Names come from anywhere: wide letters take two columns
// and joined ones none, and a line that is thought shorter than it is would break all that stand below each other.

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
