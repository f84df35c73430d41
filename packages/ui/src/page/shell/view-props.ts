// What the frame hands to a view. Types only.
import type { SourcesAnswer } from '../../api/answers.js';

/** What every view is given. */
export interface ViewProps {
  /** What stands behind the view's name in the address, such as `show` in `#/traces/show`; '' for none. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly sources: SourcesAnswer['sources'];
}
