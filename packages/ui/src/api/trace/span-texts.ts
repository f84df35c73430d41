// What a span says, as text that people read and search. A value must come whole, or say how much is missing.
import { inSlices } from 'spanline/internal/base';
import { type ArchivedProperties, type ArchivedSpan, type ArchivedValue, propertyText } from 'spanline/internal/record';

/** Characters of one value in an answer. */
const MAX_TEXT = 20_000;

const valueText = (value: ArchivedValue): string => {
  const text = propertyText(value);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} … and ${text.length - MAX_TEXT} characters more`;
};

/** Properties as keys and texts. */
export const pairsOf = (properties: ArchivedProperties): (readonly [key: string, text: string])[] =>
  Object.entries(properties).map(([key, value]) => [key, valueText(value)]);

const hasPair = (properties: ArchivedProperties, wanted: string): boolean => {
  for (const key of Object.keys(properties)) {
    if (`${key}=${propertyText(properties[key])}`.toLowerCase().includes(wanted)) return true;
  }
  return false;
};

/** `wanted` in lower case: in the name, the status, a property as `key=value`, or an event. */
const hasText = ({ name, spanId, status, properties, events }: ArchivedSpan, wanted: string): boolean =>
  name.toLowerCase().includes(wanted) ||
  spanId === wanted ||
  status.message.toLowerCase().includes(wanted) ||
  hasPair(properties, wanted) ||
  events.some((event) => event.name.toLowerCase().includes(wanted) || hasPair(event.properties, wanted));

/** Places of the spans that have a text, upper and lower case alike. Lets other requests go on meanwhile. */
export const findText = async (
  spans: readonly ArchivedSpan[],
  text: string,
  signal: AbortSignal,
): Promise<number[]> => {
  const wanted = text.toLowerCase();
  const places: number[] = [];
  await inSlices(
    spans.length,
    (place) => {
      if (hasText(spans[place], wanted)) places.push(place);
      return undefined;
    },
    signal,
  );
  return places;
};
