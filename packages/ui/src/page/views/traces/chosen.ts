// Two things that are chosen to be compared: what the address calls `a` and `b`.
type Parameters = Readonly<Record<string, string>>;

/** Those chosen so far. */
export const chosenIn = ({ a = '', b = '' }: Parameters): readonly string[] => [a, b].filter((one) => one !== '');

/** `a` and `b` with one more, or without it. */
export const toggled = (
  chosen: readonly string[],
  one: string,
): { readonly a: string | undefined; readonly b: string | undefined } => {
  const [a, b] = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
  return { a, b };
};
