// Ingest files in the format json-lines.

/** JSON lines of `count` commits, each with one value of `draw`. */
export const jsonLines = (count: number): string =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      group: 'G',
      commit: `c${i}`,
      date: 1000 + i,
      tool: 't',
      benches: [{ name: 'draw', value: i, unit: 'ms' }],
    }),
  ).join('\n');
