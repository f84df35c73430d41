// A query of a store as text, changed by clicking values. What the user typed in a form that clicks cannot make must stay as it is.

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

/** A value that begins like a sign of the query language is meant as it stands. */
const written = (key: string, value: string): string =>
  `${encodeURIComponent(key)}=${/^[!~*=]/.test(value) ? '=' : ''}${encodeURIComponent(value)}`;

const isThis = (part: string, key: string, value: string): boolean => {
  const [first = '', ...rest] = part.split('=');
  return decoded(first) === key && decoded(rest.join('=').replace(/^=/, '')) === value;
};

const partsOf = (query: string): string[] => query.split('&').filter((part) => part !== '');

/** Whether the query asks for this very value. */
export const hasValue = (query: string, key: string, value: string): boolean =>
  partsOf(query).some((part) => isThis(part, key, value));

/** The query with the value taken in, or taken out when it was in it. */
export const toggleValue = (query: string, key: string, value: string): string => {
  const parts = partsOf(query);
  const others = parts.filter((part) => !isThis(part, key, value));
  return (others.length < parts.length ? others : [...parts, written(key, value)]).join('&');
};
