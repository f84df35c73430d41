// Whether output may have colours, and how wide it may be. Must never write anything itself.

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Colours on a terminal only; `NO_COLOR` (any value but empty) wins over `FORCE_COLOR`, that over the terminal. */
export function wantsColour(stream: Stream = process.stdout, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Columns of the terminal; `fallback` in a pipe, so that output there does not depend on somebody's window. */
export function terminalWidth(stream: Stream = process.stdout, fallback = 100): number {
  return stream.isTTY === true && stream.columns > 0 ? stream.columns : fallback;
}
