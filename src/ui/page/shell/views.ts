// The views by their name in the address. Each is loaded when it is first shown, so that the page starts small.
import type { ComponentType } from 'preact';
import type { ViewProps } from './view-props.js';

/** A view in the navigation. */
export interface View {
  readonly name: string;
  readonly title: string;
  /** The key that goes there. */
  readonly key: string;
  readonly load: () => Promise<{ readonly default: ComponentType<ViewProps> }>;
}

export const VIEWS: readonly View[] = [
  { name: 'live', title: 'Live', key: '1', load: () => import('../views/live/live.js') },
  { name: 'traces', title: 'Traces', key: '2', load: () => import('../views/traces/traces.js') },
  { name: 'stalls', title: 'Stalls', key: '3', load: () => import('../views/stalls/stalls.js') },
  { name: 'profiles', title: 'Profiles', key: '4', load: () => import('../views/profiles/profiles.js') },
  { name: 'history', title: 'History', key: '5', load: () => import('../views/history/history.js') },
  { name: 'golden', title: 'Golden', key: '6', load: () => import('../views/golden/golden.js') },
];
