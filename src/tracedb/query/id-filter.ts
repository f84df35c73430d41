// Tells from a trace's id alone whether it meets a condition: the id names the place of every value. It must agree with the index.

/** The values a condition allows, as places in the ordered param set. */
export interface IdCondition {
  readonly keyIndex: number;
  readonly valueIndices: ReadonlySet<number>;
}

const COMMA = 44;
const ZERO = 48;

/** A test for ids of the form `,<key>=<value>,<key>=<value>,`. */
export const idFilter = ({ keyIndex, valueIndices }: IdCondition): ((id: string) => boolean) => {
  const needle = `,${keyIndex}=`;
  const [only] = valueIndices;
  if (valueIndices.size === 1) {
    const pair = `${needle}${only},`;
    return (id) => id.includes(pair);
  }
  return (id) => {
    const at = id.indexOf(needle);
    if (at === -1) return false;
    let value = 0;
    for (let i = at + needle.length; ; i++) {
      const char = id.charCodeAt(i);
      // NaN past the end of a malformed id compares false to all and would loop; stop there too.
      if (char === COMMA || Number.isNaN(char)) break;
      value = value * 10 + char - ZERO;
    }
    return valueIndices.has(value);
  };
};
