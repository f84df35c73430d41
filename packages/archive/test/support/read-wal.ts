// What a write-ahead file holds, as spans.
import { readWalRows } from '../../src/wal/wal-frames.js';

export const readWal = (path: string) => {
  const { rows, ...extent } = readWalRows(path);
  return { spans: rows.spans(), ...extent };
};
