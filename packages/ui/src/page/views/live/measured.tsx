// The last minute by the metrics of services: exact whatever is sampled. It must say what it cannot read, and of how long its figures are.
import type { LiveMeasured, MeasuredRow } from '../../../api/answers.js';
import { Scrolling, Table } from '../../shell/texts.js';
import { OutcomeCells, RequestFigures } from './figures.js';

const sumOf = (rows: readonly MeasuredRow[], of: (row: MeasuredRow) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);

const MINUTE = 60;

const Rows = ({ rows }: { rows: readonly MeasuredRow[] }) => (
  <Scrolling label="measured">
    <Table head={['Kind', 'Name', 'Service', 'A second', 'Count', 'Errors', 'p50', 'p95', 'p99']} align="lllrrrrrr">
      {rows.map(({ service, what, name, perSecond, ...outcome }) => (
        <tr key={JSON.stringify([service, what, name])}>
          <td>{what}</td>
          <td>{name}</td>
          <td>{service}</td>
          <td class="number">{perSecond.toFixed(1)}</td>
          <OutcomeCells {...outcome} />
        </tr>
      ))}
    </Table>
    <p class="muted">
      Measured by the services, whatever is sampled: what they answered, processed, asked of others and sent. Own spans
      are those that were recorded. Percentiles are as exact as buckets are.
    </p>
  </Scrolling>
);

export const Measured = ({ measured: { seconds, rows, failures } }: { measured: LiveMeasured }) => {
  const answered = rows.filter(({ what }) => what === 'answered');
  const count = sumOf(answered, (row) => row.count);
  const errors = sumOf(answered, (row) => row.errors);
  return (
    <section>
      <dl class="live-figures">
        <RequestFigures perSecond={sumOf(answered, (row) => row.perSecond)} count={count} errors={errors} />
      </dl>
      {Math.round(seconds) < MINUTE && (
        <p class="muted">
          These are the last {Math.round(seconds)} seconds: metrics are read since the page was opened.
        </p>
      )}
      {failures.map(({ url, reason }) => (
        <p key={url} class="failed" role="alert">
          {url} cannot be read: {reason}. Is the service running with OTEL_METRICS_EXPORTER=prometheus?
        </p>
      ))}
      {rows.length > 0 && <Rows rows={rows} />}
    </section>
  );
};
