// Unix time in microseconds, by the clock that spans have: a timeline must stand on the same line as they do.
import { takeAnchor } from '../../clock/index.js';

export const unixNow = (): number => {
  const { unixSec, unixNano } = takeAnchor();
  return unixSec * 1e6 + unixNano / 1000;
};
