// A flame graph with what belongs to it: search, details of the selected function, and the functions as a table, which tells the same without a
// canvas.
import { useMemo, useRef, useState } from 'preact/hooks';
import type { FlameColumns } from '../../../api/profiles/answers.js';
import { useGet } from '../../api/client.js';
import { useKeys } from '../../shell/keys.js';
import { Answer, Empty } from '../../shell/states.js';
import { Table } from '../../shell/texts.js';
import { FlameCanvas } from './flame-canvas.js';
import { type FlameLayout, findFunctions, functionSums, layOut } from './flame-layout.js';
import { type Choice, milliseconds, percent, points } from './profile-choice.js';

const MAX_FUNCTIONS = 25;

const Details = ({ layout: { columns }, row }: { layout: FlameLayout; row: number }) => {
  const { names, places, frame, total, self, before } = columns;
  const whole = total[0] || 1;
  const change = before === undefined ? 0 : total[row] / whole - before[row] / (before[0] || 1);
  return (
    <p id="flame-details" class="flame-details" role="status">
      <strong>{names[frame[row]]}</strong> {milliseconds(total[row])} ({percent(total[row] / whole)}), itself{' '}
      {milliseconds(self[row])}
      {before !== undefined && <span class={change > 0 ? 'more' : 'less'}> {points(change)} points</span>}
      <span class="muted mono"> {places[frame[row]]}</span>
    </p>
  );
};

const Functions = ({ columns, search }: { columns: FlameColumns; search: (name: string) => void }) => {
  const sums = useMemo(() => functionSums(columns).slice(0, MAX_FUNCTIONS), [columns]);
  const whole = columns.total[0] || 1;
  return (
    <details class="scroll">
      <summary>Functions by their own time</summary>
      <Table head={['function', 'itself', 'with callees', 'place']} align="lrrl">
        {sums.map(({ frame, selfNs, totalNs }) => (
          <tr key={frame}>
            <td>
              <button type="button" class="link" onClick={() => search(columns.names[frame])}>
                {columns.names[frame]}
              </button>
            </td>
            <td class="number">
              {milliseconds(selfNs)} ({percent(selfNs / whole)})
            </td>
            <td class="number">{percent(totalNs / whole)}</td>
            <td class="muted mono">{columns.places[frame]}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
};

const Graph = ({ columns, choice }: { columns: FlameColumns; choice: Choice }) => {
  const { search = '', zoom = '0' } = choice.parameters;
  const layout = useMemo(() => layOut(columns), [columns]);
  const found = useMemo(() => findFunctions(layout, search), [layout, search]);
  const field = useRef<HTMLInputElement>(null);
  const count = columns.frame.length;
  // An address may be older than the profile.
  const zoomed = Number(zoom) < count ? Math.trunc(Number(zoom)) : 0;
  const [chosen, select] = useState(zoomed);
  const selected = chosen < count ? chosen : 0;
  const zoomTo = (row: number): void => {
    select(row);
    choice.change({ zoom: row === 0 ? undefined : String(row) });
  };
  useKeys([
    { key: '/', does: 'search in functions', act: () => field.current?.focus() },
    { key: '0', does: 'show the whole flame graph', act: () => zoomTo(0) },
    { key: 'i', does: 'callees or callers first', act: () => choice.toggle('inverted') },
  ]);
  if (columns.total[0] === 0 && (columns.before?.[0] ?? 0) === 0)
    return <Empty title="No sample has this label">Choose another label in the table.</Empty>;
  const label = `Flame graph of ${count - 1} nodes, ${milliseconds(columns.total[0])} in all. Arrows move, Enter zooms, 0 shows all.`;
  return (
    <>
      <div class="flow">
        <input
          ref={field}
          type="search"
          placeholder="search functions  ( / )"
          aria-label="search functions"
          value={search}
          onInput={(event) => choice.change({ search: event.currentTarget.value }, true)}
        />
        {found !== undefined && <span role="status">{percent(found.share)} of the time is in or under them</span>}
        <button type="button" aria-pressed={choice.isInverted} onClick={() => choice.toggle('inverted')}>
          Callers first
        </button>
        {zoomed !== 0 && (
          <button type="button" onClick={() => zoomTo(0)}>
            Show all
          </button>
        )}
      </div>
      <FlameCanvas
        layout={layout}
        zoom={zoomed}
        selected={selected}
        isFound={found?.isFound}
        label={label}
        onSelect={select}
        onZoom={zoomTo}
      />
      <Details layout={layout} row={selected} />
      <p class="muted">
        {columns.before === undefined
          ? 'Orange is the program, purple its packages, teal Node, grey native code.'
          : 'Red takes more of the CPU than before, green less. A width is the mean of both shares.'}{' '}
        Click selects, double click or Enter zooms, arrows move.
        {columns.omitted > 0 && ` ${columns.omitted} of the smallest nodes are left out.`}
      </p>
      <Functions columns={columns} search={(name) => choice.change({ search: name })} />
    </>
  );
};

export const FlameView = ({ choice }: { choice: Choice }) => {
  const { query } = choice;
  const key = JSON.stringify(query);
  const answer = useGet<FlameColumns>('profiles/flame', query);
  return <Answer of={answer}>{(columns) => <Graph key={key} columns={columns} choice={choice} />}</Answer>;
};
