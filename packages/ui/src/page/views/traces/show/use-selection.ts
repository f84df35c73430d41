// Which span is selected. The address holds it, but only once a held key is let go: a browser takes no hundred changes of the address a second.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { goTo, placeOf } from '../../../shell/location.js';
import type { ViewProps } from '../../../shell/view-props.js';

const SETTLE_MS = 200;
/** That it stands in. */
const VIEW = 'traces/show';

/** The selected span. */
export interface Selection {
  readonly selected: number;
  readonly select: (place: number) => void;
  /** The span that the address names, where the trace has none of that id. */
  readonly absent: string | undefined;
}

/** What the address says, until the user selects another one. */
export const useSelection = (
  { spans }: TraceAnswer,
  places: ReadonlyMap<string, number>,
  parameters: ViewProps['parameters'],
): Selection => {
  const { span = '', id, snapshot } = parameters;
  const [chosen, setChosen] = useState<number>();
  const written = useRef(span);
  const named = places.get(span);
  useEffect(() => {
    if (span === written.current) return;
    written.current = span;
    setChosen(undefined);
  }, [span]);
  useEffect(() => {
    if (chosen === undefined || spans.ids[chosen] === written.current) return;
    const timer = setTimeout(() => {
      // Somebody who has gone on to another trace meanwhile must not be taken back: this one is shown until that has come.
      const now = placeOf(location.hash);
      if (now.view !== VIEW || now.parameters.id !== id || now.parameters.snapshot !== snapshot) return;
      written.current = spans.ids[chosen];
      goTo(VIEW, { ...now.parameters, span: spans.ids[chosen] }, true);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [chosen]);
  return {
    selected: chosen ?? named ?? 0,
    select: setChosen,
    absent: span !== '' && named === undefined && chosen === undefined ? span : undefined,
  };
};
