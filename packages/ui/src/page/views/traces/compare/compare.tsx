// Two traces or two groups as one tree: for each name how often and how long, on average a trace, and the difference.
import type { CompareAnswer, ComparedRow } from '../../../../api/answers.js';
import { useGet } from '../../../api/client.js';
import { goTo, hrefOf, type ViewProps } from '../../../shell/location.js';
import { Answer } from '../../../shell/states.js';
import { counted, duration, Scrolling, Table } from '../../../shell/texts.js';
import { searchOf, useTraceLinks } from '../address.js';
import './compare.css';

const MAX_INDENT = 30;

const countText = (count: number): string => (Number.isInteger(count) ? String(count) : count.toFixed(2));

const signed = (value: number, text: string): string => (value > 0 ? `+${text}` : `−${text}`);

const Row = ({ row: { depth, name, left, right }, max }: { row: ComparedRow; max: number }) => {
  const us = right.us - left.us;
  const count = right.count - left.count;
  const kind = left.count === 0 ? 'only-right' : right.count === 0 ? 'only-left' : undefined;
  return (
    <tr class={kind}>
      <td style={{ paddingLeft: `${Math.min(depth, MAX_INDENT) * 14}px` }}>
        {name || '(no name)'}
        {kind !== undefined && <small> {kind === 'only-right' ? 'only in B' : 'only in A'}</small>}
      </td>
      <td class="number">{countText(left.count)}</td>
      <td class="number">{countText(right.count)}</td>
      <td class="number">{count === 0 ? '' : signed(count, countText(Math.abs(count)))}</td>
      <td class="number">{duration(left.us)}</td>
      <td class="number">{duration(right.us)}</td>
      <td class={`number ${us > 0 ? 'worse' : 'better'}`}>{us === 0 ? '' : signed(us, duration(Math.abs(us)))}</td>
      <td class="compare-bar" aria-hidden="true">
        <span class={us > 0 ? 'worse' : 'better'} style={{ width: `${max > 0 ? (100 * Math.abs(us)) / max : 0}px` }} />
      </td>
    </tr>
  );
};

const Side = ({ title, traceCount, of }: CompareAnswer['left'] & { of: string }) => {
  const links = useTraceLinks();
  const name = title || '(no name)';
  const [kind, id] = of.split(':');
  return (
    <>
      {kind === 'trace' ? <a href={links.hrefOf(id)}>{name}</a> : name}, {counted(traceCount, 'trace')}
    </>
  );
};

const Tree = ({ left, right, rows, leftOut, a, b }: CompareAnswer & { a: string; b: string }) => {
  const max = rows.reduce((sum, row) => Math.max(sum, Math.abs(row.right.us - row.left.us)), 0);
  return (
    <>
      <p>
        <b>A</b> <Side {...left} of={a} />
        <br />
        <b>B</b> <Side {...right} of={b} />
      </p>
      <Scrolling label="comparison">
        <Table
          class="compare"
          head={['name', 'count A', 'count B', 'difference', 'time A', 'time B', 'difference', '']}
          align="lrrrrrrl"
        >
          {rows.map((row, i) => (
            <Row key={i} row={row} max={max} />
          ))}
        </Table>
      </Scrolling>
      {leftOut > 0 && <p>{leftOut} rows more are not shown.</p>}
    </>
  );
};

/** For two that are named by hand. */
const Chooser = ({ parameters }: Pick<ViewProps, 'parameters'>) => {
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    goTo('traces/compare', { ...parameters, ...(Object.fromEntries(data) as Record<string, string>) });
  };
  return (
    <form class="flow" onSubmit={send}>
      {['a', 'b'].map((name) => (
        <label key={name}>
          {name.toUpperCase()}{' '}
          <input name={name} defaultValue={parameters[name] ?? ''} placeholder="trace:ID or group:DIGEST" size={32} />
        </label>
      ))}
      <button type="submit">Compare</button>
    </form>
  );
};

const Compare = ({ parameters }: ViewProps) => {
  const { a = '', b = '' } = parameters;
  const search = searchOf(parameters);
  const isReady = a !== '' && b !== '';
  const asked = { ...search, a, b };
  const answer = useGet<CompareAnswer>(isReady && 'compare', asked);
  return (
    <>
      <h1>Compare</h1>
      <p>
        Count and time are of one trace, on average. Choose others <a href={hrefOf('traces', search)}>among traces</a>{' '}
        or <a href={hrefOf('traces/groups', search)}>among groups</a>.
      </p>
      <Chooser key={`${a} ${b}`} parameters={parameters} />
      {isReady && <Answer of={answer}>{(value) => <Tree {...value} a={a} b={b} />}</Answer>}
    </>
  );
};
export default Compare;
