// Results as a table for people. Must not round away what a reader compares: three significant digits.

const digits = (value) => {
  if (value === null) return '-';
  if (value >= 1000) return value.toFixed(0);
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
};

/** How many times `value` is what spanline needs for the same case. */
function ratio(row, results) {
  const own = results.find(
    ({ subject, name, n, node }) => subject === 'spanline' && name === row.name && n === row.n && node === row.node,
  );
  return own === undefined || own === row || !(own.median > 0) ? '' : `${(row.median / own.median).toFixed(1)}x`;
}

const HEADER = ['case', 'n', 'subject', 'unit', 'min', 'median', 'total', 'spread', 'of spanline'];

const LEGEND = 'min, median: caller time; total: CPU of all threads (median round); spread: (p75 - p25) / median';
const SERVICE_LEGEND =
  'CPU of all threads, but main-thread; record, flight, send, archive, archive-unsorted, gc, main-thread, rss: above none, by pairs of rounds; spread: (p75 - p25) / median';

export function table({ suite, machine, withoutNative = [], results }) {
  const lines = [
    `${suite}: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, load ${machine.loadBefore}`,
    ...withoutNative,
    suite === 'service' ? SERVICE_LEGEND : LEGEND,
  ];
  for (const node of new Set(results.map((result) => result.node))) {
    const rows = results
      .filter((result) => result.node === node)
      .map((row) => [
        row.name,
        String(row.n),
        row.subject,
        row.unit,
        digits(row.min),
        digits(row.median),
        digits(row.totalMedian),
        `${(row.spread * 100).toFixed(0)}%`,
        ratio(row, results),
      ]);
    const widths = HEADER.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
    const format = (row) =>
      row.map((cell, i) => (i < 4 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
    lines.push('', `Node ${node}`, format(HEADER), ...rows.map(format));
  }
  return lines.join('\n');
}

/** Rows as a table of Markdown. */
export const markdown = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
