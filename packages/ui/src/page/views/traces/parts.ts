// What Traces shows behind its name in the address. Each part is loaded when it is first shown.
import type { ComponentType } from 'preact';
import type { ViewProps } from '../../shell/view-props.js';

/** By the path behind `traces/`. */
export const PARTS: Readonly<Record<string, () => Promise<{ readonly default: ComponentType<ViewProps> }>>> = {
  '': () => import('./list/list.js'),
  compare: () => import('./compare/compare.js'),
  groups: () => import('./groups/groups.js'),
  show: () => import('./show/show.js'),
  snapshots: () => import('./snapshots/snapshots.js'),
};
