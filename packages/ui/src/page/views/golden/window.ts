// Which commits and which page of the answer are looked at, as the address says it; both lists and the digest that is looked at have the same.
import type { ViewProps } from '../../shell/view-props.js';

type Parameters = ViewProps['parameters'];

export const COMMITS = ['20', '100', '500', '2000', '10000'];
export const PAGE = 100;

/** Parameters of a request, those of the commits. */
export const windowOf = ({ commits = '100', last }: Parameters) => ({ commits, last });

/** The first result that is shown. */
export const offsetOf = ({ offset = '0' }: Parameters): number => (/^\d{1,6}$/.test(offset) ? Number(offset) : 0);
