// What the colors and marks of the waterfall stand for.
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { serviceColor } from './colors.js';

/** Services that are named; others have the same colors again. */
const MAX = 12;

interface Props {
  readonly trace: TraceAnswer;
  readonly hasCpu: boolean;
  readonly hasLinks: boolean;
}

export const Legend = ({ trace: { services }, hasCpu, hasLinks }: Props) => (
  <ul class="legend" aria-label="legend">
    {services.slice(0, MAX).map((service, i) => (
      <li key={service}>
        <span class="swatch" style={{ background: `var(--${serviceColor(i)})` }} /> {service}
      </li>
    ))}
    {services.length > MAX && <li>and {services.length - MAX} services more</li>}
    <li>
      <span class="swatch failed" /> failed
    </li>
    <li>
      <span class="swatch critical" /> critical path
    </li>
    {hasCpu && (
      <li>
        <span class="swatch cpu" /> CPU while the span was current, as a share of its time
      </li>
    )}
    {hasLinks && <li>⇄ has links</li>}
  </ul>
);
