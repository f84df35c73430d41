// Reads a whole number from the address of a request. What is not one must be refused, never taken for the default.
import { type Call, HttpError } from '@spanline/archive/internal';

/** The parameter `name`, from `min` to `max`; `otherwise` where it is missing. `HttpError` 400 for anything else. */
export const numberOf = ({ query }: Call, name: string, min: number, max: number, otherwise?: number): number => {
  const text = query.get(name);
  if (text === null && otherwise !== undefined) return otherwise;
  const number = /^\d{1,16}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new HttpError(400, `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
};
