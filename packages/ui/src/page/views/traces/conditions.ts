// Which parameters in the address choose traces. Every part of Traces hands on these and no others, or a search would change from one to the next.
type Parameters = Readonly<Record<string, string>>;

/** What the form asks for. */
export const FIELDS = ['service', 'name', 'status', 'min', 'max', 'from', 'to', 'properties', 'limit'] as const;
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
