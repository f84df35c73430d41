// The figures that both halves of Live have, of the archive and of metrics. They must look the same, or one would be taken for something else.
import type { LiveOperation } from '../../../api/answers.js';
import { duration, share } from '../../shell/texts.js';

/** What was answered: parts of a list. */
export const RequestFigures = ({ perSecond, count, errors }: { perSecond: number; count: number; errors: number }) => (
  <>
    <div>
      <dt>requests a second</dt>
      <dd>{perSecond.toFixed(1)}</dd>
    </div>
    <div>
      <dt>requests</dt>
      <dd>{count}</dd>
    </div>
    <div>
      <dt>with an error</dt>
      <dd class={errors > 0 ? 'failed' : undefined}>{share(errors, count)}</dd>
    </div>
  </>
);

type Outcome = Pick<LiveOperation, 'count' | 'errors' | 'p50Us' | 'p95Us' | 'p99Us'>;

/** How often and how long: the last cells of a row. */
export const OutcomeCells = ({ count, errors, p50Us, p95Us, p99Us }: Outcome) => (
  <>
    <td class="number">{count}</td>
    <td class={errors > 0 ? 'number failed' : 'number'}>{errors}</td>
    <td class="number">{duration(p50Us)}</td>
    <td class="number">{duration(p95Us)}</td>
    <td class="number">{duration(p99Us)}</td>
  </>
);
