// The name of a Bigtable table as one text. It must not guess: a project that is not named would be taken from the machine.
import { invalidInput, type TraceDbError } from '../../tracedb-error.js';

/** The parts of `bigtable://project/instance/table`. */
export interface BigtableLocation {
  readonly text: string;
  readonly project: string;
  readonly instance: string;
  readonly table: string;
}

const PATTERN = /^bigtable:\/\/(?<project>[^/]+)\/(?<instance>[^/]+)\/(?<table>[^/]+)$/;
// Projects of old organisations carry their domain: `example.com:project`.
const PROJECT = /^([a-z0-9.-]+:)?[a-z][a-z0-9-]{0,61}$/;
const INSTANCE = /^[a-z][a-z0-9-]{0,31}[a-z0-9]$/;
const TABLE = /^[_A-Za-z0-9][-_.A-Za-z0-9]{0,49}$/;

const invalid = (text: string, what: string): TraceDbError =>
  invalidInput(`${JSON.stringify(text)} names no Bigtable table: ${what}; write bigtable://project/instance/table`);

/** The parts of `text`, or an error that says which part is wrong. */
export const parseBigtableLocation = (text: string): BigtableLocation => {
  const groups = PATTERN.exec(text)?.groups;
  if (groups === undefined) throw invalid(text, 'it does not have exactly three parts');
  const { project, instance, table } = groups as Record<'project' | 'instance' | 'table', string>;
  if (!PROJECT.test(project))
    throw invalid(text, `the project ${JSON.stringify(project)} must match ${PROJECT.source}`);
  if (!INSTANCE.test(instance)) {
    throw invalid(text, `the instance ${JSON.stringify(instance)} must match ${INSTANCE.source}`);
  }
  if (!TABLE.test(table)) throw invalid(text, `the table ${JSON.stringify(table)} must match ${TABLE.source}`);
  return { text, project, instance, table };
};
