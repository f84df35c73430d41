// What a write-ahead file holds, as spans.
import { readWalRows } from '../../src/wal/wal-reader.js';

export const readWal = (path: string) => {
  const { rows, ...extent } = readWalRows(path);
  return { spans: rows.spans(), ...extent };
};
