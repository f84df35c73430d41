// A map by span id. Ids are two words: as text each look-up would make a string, as one number they would lose digits.
export class SpanIdMap<T> {
  private readonly byHi = new Map<number, Map<number, T>>();

  get(hi: number, lo: number): T | undefined {
    return this.byHi.get(hi)?.get(lo);
  }

  set(hi: number, lo: number, value: T): void {
    const byLo = this.byHi.get(hi);
    if (byLo === undefined) this.byHi.set(hi, new Map([[lo, value]]));
    else byLo.set(lo, value);
  }

  *values(): Generator<T> {
    for (const byLo of this.byHi.values()) yield* byLo.values();
  }
}
