// Whether the values of one sample lie above some level more often than those of another: for values of a few levels, or of two kinds of runs, where
// ranks overlap though hardly a value is the same. It must never approximate: the tails are what is asked for.

/** Levels that are tried, at equal shares of all values. */
const LEVELS = 32;

/** Levels nearer to the one before than this part of their mean distance are the same one: the noise of one kind of runs holds no levels. */
const NARROW = 0.25;

/** Terms of a tail below this share of the first add nothing. */
const NEGLIGIBLE = 1e-6;

let logs = Float64Array.of(0, 0);

/** log(n!) */
const logFactorial = (n: number): number => {
  if (n >= logs.length) {
    const longer = new Float64Array(Math.max(n + 1, 2 * logs.length));
    longer.set(logs);
    for (let i = logs.length; i < longer.length; i++) longer[i] = longer[i - 1] + Math.log(i);
    logs = longer;
  }
  return logs[n];
};

/** The two-sided p of Fisher's test: of `marked` among m + n values, `dealt` are among the m; twice the smaller tail. */
const fisherP = (m: number, n: number, marked: number, dealt: number): number => {
  const expected = (marked * m) / (m + n);
  const step = dealt > expected ? 1 : -1;
  const last = step > 0 ? Math.min(m, marked) : Math.max(0, marked - n);
  let sum = 0;
  let first = 0;
  for (let k = dealt; step > 0 ? k <= last : k >= last; k += step) {
    const p = Math.exp(
      logFactorial(m) -
        logFactorial(k) -
        logFactorial(m - k) +
        logFactorial(n) -
        logFactorial(marked - k) -
        logFactorial(n - marked + k) -
        logFactorial(m + n) +
        logFactorial(marked) +
        logFactorial(m + n - marked),
    );
    first ||= p;
    sum += p;
    if (p < NEGLIGIBLE * first) break;
  }
  return Math.min(1, 2 * sum);
};

/** Up to 32 levels of sorted values, each the first value above the widest gap within an equal share of them. Equal values have none between them. */
const levelsOf = (sorted: Float64Array): readonly number[] => {
  const size = sorted.length;
  const placeOf = (level: number): number => Math.floor((level * size) / (LEVELS + 1));
  const narrow = (NARROW * (sorted[placeOf(LEVELS)] - sorted[placeOf(1)])) / LEVELS;
  const levels: number[] = [];
  let last = 0;
  for (let level = 1; level <= LEVELS; level++) {
    const place = placeOf(level);
    const distance = sorted[place] - sorted[last];
    let widest = place;
    for (let i = last + 1; i < place; i++) {
      if (sorted[i] - sorted[i - 1] > sorted[widest] - sorted[widest - 1]) widest = i;
    }
    last = place;
    if (distance > 0 && distance >= narrow) levels.push(sorted[widest]);
  }
  return levels;
};

/**
 * The smallest two-sided p of Fisher's exact test over up to 32 levels, times their number: how likely shares above a level differ so much when
 * the values are dealt at random. Source: R. A. Fisher, Journal of the Royal Statistical Society 98 (1935).
 */
export const sharesP = (first: Float64Array, second: Float64Array): number => {
  const [a, b] = [first.toSorted(), second.toSorted()];
  const [m, n] = [a.length, b.length];
  const all = new Float64Array(m + n);
  all.set(a);
  all.set(b, m);
  all.sort();
  const levels = levelsOf(all);
  let best = 1;
  let [i, j] = [0, 0];
  for (const level of levels) {
    while (i < m && a[i] < level) i++;
    while (j < n && b[j] < level) j++;
    best = Math.min(best, fisherP(m, n, i + j, i));
  }
  return Math.min(1, best * levels.length);
};

/** Where the shares of `values` above some level differ most before and after, with at least `minSize` on each side; null where no value differs. */
export const sharesCut = (values: Float64Array, minSize: number): number | null => {
  const size = values.length;
  let best = 0;
  let cut: number | null = null;
  for (const level of levelsOf(values.toSorted())) {
    let marked = 0;
    for (const one of values) if (one < level) marked++;
    const share = marked / size;
    const variance = share * (1 - share);
    let before = 0;
    for (let i = 1; i <= size - minSize; i++) {
      if (values[i - 1] < level) before++;
      if (i < minSize) continue;
      // The square of the distance from what chance deals, in variances of it.
      const apart = (before - i * share) ** 2 / (variance * i * (1 - i / size));
      if (apart > best) {
        best = apart;
        cut = i;
      }
    }
  }
  return cut;
};
