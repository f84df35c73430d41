// Traces in the address: which parameters choose traces, the two things that are chosen to be compared, `a` and `b`, and addresses of traces. Every
// part of Traces hands on the parameters that choose and no others, or a search would change from one to the next. A trace of a snapshot is found in
// that snapshot only: links between traces stay where they are.
import { Fragment } from 'preact';
import type { NamedTime } from '../../../api/answers.js';
import { goTo, hrefOf, usePlace } from '../../shell/location.js';
import { duration } from '../../shell/texts.js';

type Parameters = Readonly<Record<string, string>>;

/** What the form asks for. */
const FIELDS = ['service', 'name', 'status', 'min', 'max', 'from', 'to', 'properties', 'limit'] as const;
export type Field = (typeof FIELDS)[number];

const picked = (parameters: Parameters, names: readonly string[]): Parameters =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => names.includes(name)));

/** What stands in the form. */
export const fieldsOf = (parameters: Parameters): Parameters => picked(parameters, FIELDS);

/** All that chooses traces: the form, a window of the scatter, and where they are. */
export const searchOf = (parameters: Parameters): Parameters => picked(parameters, [...FIELDS, 'picked', 'snapshot']);

/** What chooses the points of the scatter: not the window in it, nor how many are listed. */
export const pointsSearchOf = (parameters: Parameters): Parameters =>
  picked(parameters, [...FIELDS.filter((name) => name !== 'limit'), 'snapshot']);

/** Those chosen so far. */
export const chosenIn = ({ a = '', b = '' }: Parameters): readonly string[] => [a, b].filter((one) => one !== '');

/** `a` and `b` with one more, or without it. */
export const toggled = (
  chosen: readonly string[],
  one: string,
): { readonly a: string | undefined; readonly b: string | undefined } => {
  const [a, b] = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
  return { a, b };
};

/** Makes addresses of traces of where one looks now: the archive, or a snapshot. */
export const useTraceLinks = () => {
  const { snapshot } = usePlace().parameters;
  return {
    hrefOf: (id: string, span?: string): string => hrefOf('traces/show', { snapshot, id, span }),
    goTo: (id: string, span?: string): void => goTo('traces/show', { snapshot, id, span }),
  };
};

/** Who took how long, with commas between; what has no trace is no link. */
export const TimedTraces = ({ of }: { of: readonly NamedTime[] }) => {
  const links = useTraceLinks();
  return (
    <>
      {of.map(({ name, traceId, us }, i) => (
        <Fragment key={i}>
          {i > 0 && ', '}
          {traceId === '' ? <code>{name}</code> : <a href={links.hrefOf(traceId)}>{name || '(no name)'}</a>}{' '}
          {duration(us)}
        </Fragment>
      ))}
    </>
  );
};
