// CPU by label as a table, of one profile or of what changed between two: shares of the CPU, each with its 95 % confidence interval: of labels whose
// intervals overlap, nobody can tell which takes more.
import type { ProfileDiff, ProfileRow, ProfileTable } from '../../../api/profiles/answers.js';
import { useGet } from '../../api/client.js';
import { hrefOf } from '../../shell/location.js';
import { Answer } from '../../shell/states.js';
import { Table, Words } from '../../shell/texts.js';
import { type Choice, milliseconds, nameOf, percent, points } from './profile-choice.js';

/** The interval as a line, the share as a dot on it; widest at `max`. */
const Interval = ({ row, max }: { row: ProfileRow; max: number }) => (
  <svg class="interval" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect x="0" y="2" width={(100 * row.share) / max} height="6" class="share" />
    <rect x={(100 * row.low) / max} y="4" width={(100 * (row.high - row.low)) / max} height="2" class="range" />
  </svg>
);

/** The answer's own key: the chosen one may be newer. */
const Value = ({ value, by, choice }: { value: string; by: string; choice: Choice }) => (
  <td class="value">
    <a href={choice.href({ by, ...choice.ofValue(value) })}>
      <Words text={nameOf(value)} />
    </a>
    {by === 'trace_id' && value !== '' && (
      <>
        {' '}
        <a href={hrefOf('traces/show', { id: value })} aria-label={`trace ${value}`}>
          trace
        </a>
      </>
    )}
  </td>
);

const Rows = ({ table, choice }: { table: ProfileTable; choice: Choice }) => {
  const max = Math.max(...table.rows.map(({ high }) => high), 1e-9);
  const { measure = 'CPU' } = table;
  return (
    <>
      <div class="scroll">
        <Table
          class="labels shares"
          head={['rank', table.by, 'share', '95 % interval', `0 to ${percent(max)}`, measure, 'error', 'samples']}
          align="rlrrlrrr"
        >
          {table.rows.map((row) => (
            <tr key={row.value}>
              <td class="number">{row.rank}</td>
              <Value value={row.value} by={table.by} choice={choice} />
              <td class="number">{percent(row.share)}</td>
              <td class="number">
                {percent(row.low)} – {percent(row.high)}
              </td>
              <td class="bars">
                <Interval row={row} max={max} />
              </td>
              <td class="number">{milliseconds(row.cpuNs)}</td>
              <td class="number">± {milliseconds(row.stderrNs)}</td>
              <td class="number">{row.samples}</td>
            </tr>
          ))}
        </Table>
      </div>
      <p class="muted">
        {milliseconds(table.cpuNs)} of {table.measure === undefined ? 'CPU time' : `${table.measure}, no CPU time,`} (
        {table.unit === 'cpu' ? 'measured' : 'estimated from samples'}) in {table.samples} samples over{' '}
        {milliseconds(table.durationNs)}; garbage collection {milliseconds(table.gcNs)}. Labels of one rank are within
        noise of each other.
        {table.omitted > 0 && ` ${table.omitted} more labels are not shown.`}
      </p>
    </>
  );
};

export const LabelTable = ({ choice }: { choice: Choice }) => {
  const { name, by } = choice;
  const answer = useGet<ProfileTable>('profiles/table', { name, by });
  return <Answer of={answer}>{(table) => <Rows table={table} choice={choice} />}</Answer>;
};

const Changes = ({ diff, choice }: { diff: ProfileDiff; choice: Choice }) => (
  <>
    <div class="scroll">
      <Table
        class="labels"
        head={[diff.by, 'before', 'after', 'points', '95 % interval', 'p', 'verdict']}
        align="lrrrrrl"
      >
        {diff.changes.map(({ value, before, after, change, low, high, pValue, verdict }) => (
          <tr key={value}>
            <td class="value">
              <a href={choice.href({ by: diff.by, ...choice.ofValue(value) })}>
                <Words text={nameOf(value)} />
              </a>
            </td>
            <td class="number">{percent(before)}</td>
            <td class="number">{percent(after)}</td>
            <td class="number">{points(change)}</td>
            <td class="number">
              {points(low)} to {points(high)}
            </td>
            <td class="number">{pValue < 0.001 ? pValue.toExponential(1) : pValue.toFixed(3)}</td>
            <td class={verdict}>{verdict}</td>
          </tr>
        ))}
      </Table>
    </div>
    <p class="muted">
      Shares are compared, not times: the profiles may differ in length and load. “same” is within noise or below one
      point; p-values are corrected for the number of labels.
      {diff.omitted > 0 && ` ${diff.omitted} more labels are not shown.`}
    </p>
  </>
);

export const DiffTable = ({ choice }: { choice: Choice }) => {
  const { name, before, by } = choice;
  const answer = useGet<ProfileDiff>('profiles/diff', { name, before, by });
  return <Answer of={answer}>{(diff) => <Changes diff={diff} choice={choice} />}</Answer>;
};
