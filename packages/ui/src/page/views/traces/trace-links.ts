// Addresses of traces. A trace of a snapshot is found in that snapshot only: links between traces stay where they are.
import { goTo, hrefOf, usePlace } from '../../shell/location.js';

/** Makes addresses of traces of where one looks now: the archive, or a snapshot. */
export const useTraceLinks = () => {
  const { snapshot } = usePlace().parameters;
  return {
    hrefOf: (id: string, span?: string): string => hrefOf('traces/show', { snapshot, id, span }),
    goTo: (id: string, span?: string): void => goTo('traces/show', { snapshot, id, span }),
  };
};
