// Names of services and of their spans, out of all that an archive holds. No spans are read for them but those in no segment yet.
import { type ArchivedKind, shownName } from 'spanline/internal/record';
import type { TraceSource } from './trace-source.js';

/** A name spans of a service have. */
export interface Operation {
  readonly name: string;
  readonly kind: ArchivedKind;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sorted. */
export const servicesOf = async (sources: readonly TraceSource[], unnamed?: string): Promise<string[]> => {
  const services = new Set<string>();
  for (const source of sources) {
    for (const service of (await source.operations()).keys()) services.add(shownName(service, unnamed));
  }
  return [...services].sort();
};

/** Sorted by name, then kind. */
export const operationsOf = async (
  sources: readonly TraceSource[],
  service: string,
  unnamed?: string,
): Promise<Operation[]> => {
  const operations = new Map<string, Operation>();
  for (const source of sources) {
    for (const [name, list] of await source.operations()) {
      if (shownName(name, unnamed) !== service) continue;
      for (const operation of list) operations.set(`${operation.kind} ${operation.name}`, operation);
    }
  }
  return [...operations.values()].sort((a, b) => compareText(a.name, b.name) || compareText(a.kind, b.kind));
};
