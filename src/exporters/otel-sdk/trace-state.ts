// A W3C tracestate as the SDK's interface. It keeps the text it was given, byte for byte, until somebody changes it.
import type { SdkTraceState } from './sdk-types.js';

const fromEntries = (entries: readonly (readonly [string, string])[], text: string): SdkTraceState => ({
  get: (key) => entries.find(([known]) => known === key)?.[1],
  // A changed member moves to the front, as the W3C recommendation asks.
  set: (key, value) => withText([[key, value], ...entries.filter(([known]) => known !== key)]),
  unset: (key) => withText(entries.filter(([known]) => known !== key)),
  serialize: () => text,
});

const withText = (entries: readonly (readonly [string, string])[]): SdkTraceState =>
  fromEntries(entries, entries.map(([key, value]) => `${key}=${value}`).join(','));

export const parseTraceState = (text: string): SdkTraceState => {
  const members = text.split(',').map((member) => member.trim());
  const entries = members.flatMap((member): [string, string][] => {
    const at = member.indexOf('=');
    return at < 1 ? [] : [[member.slice(0, at), member.slice(at + 1)]];
  });
  return fromEntries(entries, text);
};
