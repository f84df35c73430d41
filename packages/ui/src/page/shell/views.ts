// The views by their name in the address. Each is loaded when it is first shown, so that the page starts small.
import type { ComponentType } from 'preact';
import type { ViewProps } from './location.js';

type Sources = ViewProps['sources'];

/** A view in the navigation. */
export interface View {
  readonly name: string;
  readonly title: string;
  /** The key that goes there. */
  readonly key: string;
  /** Whether the server has anything for it. */
  readonly isServed: (sources: Sources) => boolean;
  readonly load: () => Promise<{ readonly default: ComponentType<ViewProps> }>;
}

const hasTraces = ({ archive, snapshots }: Sources): boolean => archive || snapshots;

const VIEWS: readonly View[] = [
  {
    name: 'live',
    title: 'Live',
    key: '1',
    isServed: ({ archive }) => archive,
    load: () => import('../views/live/live.js'),
  },
  { name: 'traces', title: 'Traces', key: '2', isServed: hasTraces, load: () => import('../views/traces/traces.js') },
  { name: 'stalls', title: 'Stalls', key: '3', isServed: hasTraces, load: () => import('../views/stalls/stalls.js') },
  {
    name: 'profiles',
    title: 'Profiles',
    key: '4',
    isServed: ({ profiles }) => profiles,
    load: () => import('../views/profiles/profiles.js'),
  },
  {
    name: 'history',
    title: 'History',
    key: '5',
    isServed: ({ perf, history }) => perf || history,
    load: () => import('../views/history/history.js'),
  },
  {
    name: 'golden',
    title: 'Golden',
    key: '6',
    isServed: ({ gold }) => gold,
    load: () => import('../views/golden/golden.js'),
  },
];

/** The view of a name in the address; `traces/compare` belongs to Traces. */
export const viewOf = (name: string): View | undefined => VIEWS.find((one) => one.name === name.split('/')[0]);

/**
 * Those that stand in the navigation: what the server has something for, and where one is, however one came there. Where it has nothing at all they
 * all do, each with the command that brings it.
 */
export const shownViews = (sources: Sources, current: View | undefined): readonly View[] => {
  const shown = VIEWS.filter((view) => view.isServed(sources));
  return shown.length === 0 ? VIEWS : VIEWS.filter((view) => view === current || shown.includes(view));
};

/** The name of the view that an address without one means. */
export const startOf = (sources: Sources): string => shownViews(sources, undefined)[0].name;
