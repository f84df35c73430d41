// One minute of traces: the rate, the operations, the newest and the slowest.
import type { LiveMinute } from '../../../api/live/answers.js';
import type { TraceRow } from '../../../api/traces/answers.js';
import { hrefOf } from '../../shell/location.js';
import { duration, moment, share } from '../../shell/units.js';

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const HEIGHT = 80;

/** A bar a second, the part with errors at its foot. */
const Rate = ({ ended, failed }: LiveMinute) => {
  const most = Math.max(1, ...ended);
  const heightOf = (count: number): number => (count / most) * HEIGHT;
  return (
    <svg
      class="rate"
      role="img"
      aria-label={`traces a second, at most ${most}`}
      viewBox={`0 0 ${ended.length} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {ended.map((count, second) => (
        <g key={second}>
          <rect class="all" x={second} y={HEIGHT - heightOf(count)} width={0.85} height={heightOf(count)} />
          <rect
            class="failed"
            x={second}
            y={HEIGHT - heightOf(failed[second])}
            width={0.85}
            height={heightOf(failed[second])}
          />
        </g>
      ))}
    </svg>
  );
};

const Operations = ({ operations }: LiveMinute) => (
  <section class="scroll" aria-label="operations">
    <table>
      <thead>
        <tr>
          <th>Operation</th>
          <th>Service</th>
          <th class="number">Traces</th>
          <th class="number">Errors</th>
          <th class="number">p50</th>
          <th class="number">p95</th>
          <th class="number">p99</th>
        </tr>
      </thead>
      <tbody>
        {operations.map(({ service, name, count, errors, p50Us, p95Us, p99Us }) => (
          <tr key={JSON.stringify([service, name])}>
            <td>
              <a href={hrefOf('traces', { service, name })}>{name}</a>
            </td>
            <td>{service}</td>
            <td class="number">{count}</td>
            <td class={errors > 0 ? 'number failed' : 'number'}>{errors}</td>
            <td class="number">{duration(p50Us)}</td>
            <td class="number">{duration(p95Us)}</td>
            <td class="number">{duration(p99Us)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const Traces = ({ title, traces }: { title: string; traces: readonly TraceRow[] }) => (
  <section>
    <h2>{title}</h2>
    <ol class="live-traces">
      {traces.map(({ traceId, name, startUs, durationUs, errorCount }) => (
        <li key={traceId}>
          <a href={hrefOf('traces/show', { id: traceId })}>{name}</a>
          {errorCount > 0 && <span class="failed">error</span>}
          <span class="muted">{moment(startUs).slice(11)}</span>
          <span class="number">{duration(durationUs)}</span>
        </li>
      ))}
    </ol>
  </section>
);

export const Minute = ({ minute }: { minute: LiveMinute }) => {
  const count = sumOf(minute.ended);
  const errors = sumOf(minute.failed);
  return (
    <>
      <dl class="live-figures">
        <div>
          <dt>traces a second</dt>
          <dd>{(count / minute.ended.length).toFixed(1)}</dd>
        </div>
        <div>
          <dt>traces</dt>
          <dd>{count}</dd>
        </div>
        <div>
          <dt>with an error</dt>
          <dd class={errors > 0 ? 'failed' : undefined}>{share(errors, count)}</dd>
        </div>
      </dl>
      {minute.isCut && <p class="muted">More arrived than is counted here: these are the newest.</p>}
      <Rate {...minute} />
      <h2>Operations</h2>
      <Operations {...minute} />
      <div class="live-lists">
        <Traces title="Newest" traces={minute.newest} />
        <Traces title="Slowest" traces={minute.slowest} />
      </div>
    </>
  );
};
