// Values of benchmarks by commit: a query, the plots of what it selects, the changes in it and what people said of them. The address holds all of it:
// source, query, number of commits, zoom, the change that is looked at, two chosen commits.

import { useEffect, useState } from 'preact/hooks';
import type { ChangeAnswer, KeysAnswer, SeriesAnswer, SourceName } from '../../../api/history/answers.js';
import { useGet } from '../../api/client.js';
import { Select, useMoves } from '../../shell/controls.js';
import { goTo, type ViewProps } from '../../shell/location.js';
import { Answer, Empty } from '../../shell/states.js';
import { Breakable, counted, figure, percent, Table } from '../../shell/texts.js';
import { Plots } from './plots.js';
import { QueryBuilder } from './query-builder.js';
import { placeOf, shortHash, type Zoom, zoomOf, zoomText } from './series.js';
import { Step, TwoCommits } from './step.js';
import './history.css';

const LASTS = ['200', '1000', '5000', '20000'];
const SOURCES = [
  ['store', 'the Perf store'],
  ['files', 'history files'],
] as const;

type Parameters = ViewProps['parameters'];

interface Shown {
  readonly source: SourceName;
  readonly answer: SeriesAnswer;
  readonly parameters: Parameters;
  readonly reload: () => void;
}

/** The change that the address means. */
const useChange = ({ answer: { changes }, parameters }: Shown) => {
  const { step, key } = parameters;
  const isMeant = ({ hash, key: own }: ChangeAnswer): boolean =>
    step !== undefined && hash.startsWith(step) && (key === undefined || own === key);
  const select = ({ hash, key: own }: { readonly hash: string; readonly key?: string }): void =>
    goTo('history', { ...parameters, step: shortHash(hash), key: own });
  const at = changes.findIndex(isMeant);
  useMoves('change', changes, at, select);
  return { change: at < 0 ? undefined : changes[at], select };
};

const SHOWN_CHANGES = 500;

interface ChangesProps {
  readonly changes: readonly ChangeAnswer[];
  /** The change whose step is open. */
  readonly isSelected: (change: ChangeAnswer) => boolean;
  readonly select: (change: ChangeAnswer) => void;
}

/** As a table: what the lines in the plot say, for keyboard and screen reader too. */
const Changes = ({ changes, isSelected, select }: ChangesProps) => {
  if (changes.length === 0) return <p>No lasting change in these series.</p>;
  return (
    <section class="scroll" aria-label="Changes">
      <Table head={['Commit', 'What', 'Change', 'Before', 'After', 'Triage', 'Series']} align="llrrrll">
        {changes.slice(0, SHOWN_CHANGES).map((change) => (
          <tr key={`${change.commit} ${change.key}`}>
            <td>
              <button type="button" class="mono" aria-pressed={isSelected(change)} onClick={() => select(change)}>
                {shortHash(change.hash)}
              </button>
            </td>
            <td class={change.kind}>{change.kind}</td>
            <td class="number">{percent(change.change)}</td>
            <td class="number">{figure(change.before)}</td>
            <td class="number">{figure(change.after)}</td>
            <td class={change.status}>{change.status}</td>
            <td class="key">
              <Breakable text={change.key} />
            </td>
          </tr>
        ))}
      </Table>
      {changes.length > SHOWN_CHANGES && <p class="muted">{changes.length - SHOWN_CHANGES} more: narrow the query.</p>}
    </section>
  );
};

const Histories = (shown: Shown) => {
  const { source, answer, parameters, reload } = shown;
  const { commits, changes } = answer;
  const { query = '', a, b } = parameters;
  const { change, select } = useChange(shown);
  if (answer.series.length === 0)
    return (
      <Empty title="Nothing to draw">
        <p>{answer.reason}</p>
      </Empty>
    );
  const setZoom = (zoom: Zoom | undefined): void => {
    const text = zoomText(commits, zoom);
    if (text !== parameters.zoom) goTo('history', { ...parameters, zoom: text }, true);
  };
  // The first choice, then the second; a third begins again.
  const choose = (place: number): void => {
    const hash = shortHash(commits.hashes[place]);
    goTo('history', {
      ...parameters,
      ...(a === undefined || b !== undefined ? { a: hash, b: undefined } : { b: hash }),
    });
  };
  return (
    <>
      <Plots
        answer={answer}
        selected={change?.commit}
        chosen={[placeOf(commits, a), placeOf(commits, b)].filter((place) => place >= 0)}
        zoom={zoomOf(commits, parameters.zoom)}
        setZoom={setZoom}
        select={(number) => select({ hash: commits.hashes[commits.numbers.indexOf(number)] })}
        choose={choose}
      />
      <p class="muted">
        {answer.series.length} series at {counted(commits.numbers.length, 'commit')},{' '}
        {counted(changes.length, 'change')}
        {answer.left > 0 && `; ${answer.left} more series are not drawn: narrow the query`}
      </p>
      {change !== undefined && <Step source={source} change={change} query={query} onChange={reload} />}
      <TwoCommits
        source={source}
        commits={commits}
        query={query}
        chosen={{ a, b }}
        choose={(chosen) => goTo('history', { ...parameters, ...chosen })}
      />
      <h2>Changes</h2>
      <Changes changes={changes} isSelected={(one) => one === change} select={select} />
    </>
  );
};

/** What the address does not say: a query to begin with, once it is known. */
const useFirstQuery = (source: SourceName, parameters: Parameters): boolean => {
  const isOpen = parameters.query === undefined && parameters.all === undefined;
  const answer = useGet<KeysAnswer>(isOpen && 'history/keys', { source });
  const suggested = answer.value?.suggested;
  const isKnown = answer.value !== undefined || answer.error !== undefined;
  useEffect(() => {
    if (isOpen && isKnown) goTo('history', { ...parameters, ...asked(suggested ?? '') }, true);
  }, [isOpen, isKnown]);
  return isOpen;
};

/** A query as the address has it: that everything is meant has to be said. */
const asked = (query: string) => ({ query, all: query === '' ? 'yes' : undefined });

const Sources = ({ source, parameters }: { source: SourceName; parameters: Parameters }) => (
  <Select
    label="Kept in"
    value={source}
    of={SOURCES}
    change={(chosen) => goTo('history', { last: parameters.last, source: chosen })}
  />
);

const Queried = ({ source, parameters, isBoth }: { source: SourceName; parameters: Parameters; isBoth: boolean }) => {
  const { query = '', last = '1000' } = parameters;
  const [reloads, setReloads] = useState(0);
  const isOpen = useFirstQuery(source, parameters);
  const answer = useGet<SeriesAnswer>(!isOpen && 'history/series', { source, query, last }, reloads);
  const ask = (changed: string, replace: boolean): void =>
    goTo('history', { source: parameters.source, last: parameters.last, ...asked(changed) }, replace);
  return (
    <div class="history">
      <QueryBuilder
        source={source}
        query={query}
        change={(changed) => ask(changed, false)}
        type={(changed) => ask(changed, true)}
      />
      <div>
        <div class="flow">
          <h1>History</h1>
          {isBoth && <Sources source={source} parameters={parameters} />}
          <Select
            label="Newest commits"
            value={last}
            of={LASTS}
            change={(count) => goTo('history', { ...parameters, last: count })}
          />
        </div>
        <Answer of={answer}>
          {(value) => (
            <Histories source={source} answer={value} parameters={parameters} reload={() => setReloads(reloads + 1)} />
          )}
        </Answer>
      </div>
    </div>
  );
};

const History = ({ parameters, sources }: ViewProps) => {
  if (!sources.perf && !sources.history)
    return (
      <Empty title="No history is open" command="spanline ui --store ./perf">
        <p>
          A Perf store holds values of benchmarks by commit; files that <code>spanline bench run --file</code> writes
          are shown with <code>--history</code>.
        </p>
      </Empty>
    );
  const isFiles = sources.history && (!sources.perf || parameters.source === 'files');
  const source = isFiles ? 'files' : 'store';
  return <Queried key={source} source={source} parameters={parameters} isBoth={sources.perf && sources.history} />;
};
export default History;
