// A series of values over commits, drawn for the terminal. It must never be wider than its options allow: a line that wraps is not a plot.

/** What is drawn. */
interface Trend {
  /** Stands above the plot. */
  readonly key: string;
  /** One a value. */
  readonly commits: readonly { readonly hash: string }[];
  readonly values: readonly number[];
}

const HEIGHT = 12;
const AXIS_WIDTH = 14;

/** One value a column: the median of the values that fall into it. */
const resampled = (values: readonly number[], width: number): number[] => {
  if (values.length <= width) return [...values];
  return Array.from({ length: width }, (_, i) => {
    const bucket = values.slice(Math.floor((i * values.length) / width), Math.floor(((i + 1) * values.length) / width));
    return bucket.sort((a, b) => a - b)[bucket.length >> 1];
  });
};

/** The plot, with a line above that names the series and one below that names its first and last commit. */
export const trendText = async ({ key, commits, values }: Trend, width: number): Promise<string> => {
  const { plot } = (await import('asciichart')).default;
  const points = resampled(values, Math.max(10, width - AXIS_WIDTH));
  const format = (value: number): string => String(Number(value.toPrecision(5))).padStart(AXIS_WIDTH - 3);
  const first = commits[0];
  const last = commits.at(-1);
  const ends =
    first === undefined || last === undefined ? '' : `${first.hash.slice(0, 10)} to ${last.hash.slice(0, 10)}`;
  return `${key}\n${plot(points, { height: HEIGHT, format })}\n${' '.repeat(AXIS_WIDTH)}${values.length} values, ${ends}\n`;
};
