// What the page shows, as it stands behind # in the address, and what the frame hands of it to a view: a view and its parameters. The address holds
// the whole state, so that it can be sent to others and the browser's own back and forward work.

import { useLayoutEffect, useState } from 'preact/hooks';
import type { SourcesAnswer } from '../../api/answers.js';

/** A view with its parameters, such as `#/traces?service=api&min=100ms`. */
interface Place {
  readonly view: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Read an address; the view is '' where it names none. */
export const placeOf = (hash: string): Place => {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { view: path, parameters: Object.fromEntries(new URLSearchParams(query)) };
};

/** The address of a view, for links; parameters without a value are left out. */
export const hrefOf = (view: string, parameters: Readonly<Record<string, string | undefined>> = {}): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given as [string, string][]).toString();
  return `#/${view}${query === '' ? '' : `?${query}`}`;
};

/** Go to a view. `replace` changes the address without a step for the back button: for what a drag changes. */
export const goTo = (
  view: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
  replace = false,
): void => {
  const href = hrefOf(view, parameters);
  if (!replace) {
    location.hash = href;
    return;
  }
  history.replaceState(null, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
};

/** Where the page is; the component is drawn again when that changes. */
export const usePlace = (): Place => {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  // Not in an effect that comes after the next frame: a change before it would go unheard.
  useLayoutEffect(() => {
    const update = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return place;
};

/** What every view is given. */
export interface ViewProps {
  /** What stands behind the view's name in the address, such as `show` in `#/traces/show`; '' for none. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly sources: SourcesAnswer['sources'];
}
