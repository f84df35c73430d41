// How two texts differ, line by line: the longest lines they have in common stay, what only one has is marked. Of texts too long for that, lines are
// marked that the other does not have anywhere.

/** A line of the difference. */
interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Pairs of lines that are compared at most: some 16 MB. */
const MAX_PAIRS = 4_000_000;

const marked = (lines: readonly string[], others: readonly string[], mark: '-' | '+'): DiffLine[] => {
  const left = new Set(others);
  return lines.map((text) => ({ mark: left.has(text) ? ' ' : mark, text }));
};

/** `lengths[i * width + j]`: lines in common from `before[i]` and `after[j]` on. */
const commonLengths = (before: readonly string[], after: readonly string[]): Uint32Array => {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? 1 + lengths[(i + 1) * width + j + 1]
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  return lengths;
};

/** From `before` to `after`. */
export const lineDiff = (before: string, after: string): readonly DiffLine[] => {
  const [a, b] = [before.split('\n'), after.split('\n')];
  if (a.length * b.length > MAX_PAIRS)
    return [...marked(a, b, '-'), ...marked(b, a, '+').filter(({ mark }) => mark === '+')];
  const lengths = commonLengths(a, b);
  const width = b.length + 1;
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i++] });
      j++;
    } else if (j === b.length || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push({ mark: '-', text: a[i++] });
    } else lines.push({ mark: '+', text: b[j++] });
  }
  return lines;
};
