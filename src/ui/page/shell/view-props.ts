// What the frame hands to a view. Types only.
import type { SourcesAnswer } from '../../api/answers.js';

/** What every view is given. */
export interface ViewProps {
  readonly parameters: Readonly<Record<string, string>>;
  readonly sources: SourcesAnswer['sources'];
}
