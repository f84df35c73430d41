// Property values: the types a span, event or link may carry.
// It must never hold behaviour that runs on the recording path.

/** A typed property value. 64-bit integers are `bigint`; an array holds one type only. */
export type PropertyValue =
  | string
  | number
  | bigint
  | boolean
  | readonly string[]
  | readonly number[]
  | readonly bigint[]
  | readonly boolean[];

/** Properties as a user writes them. A later value of the same key wins. */
export type Properties = Readonly<Record<string, PropertyValue | undefined>>;

/**
 * Properties as the library keeps them: key, value, key, value. Cheaper to append than an object and in order; keys may
 * repeat until records are made.
 */
export type PropertyList = readonly (string | PropertyValue)[];
