// Trace ids behind what `console` prints, by Node's channels. Only where asked for: a program may print what others read.
import { allOff, type Off, onMessage } from '../channel.js';
import { currentIds } from './ids.js';

/** Node 24 and later. */
export const instrumentConsole = (): Off =>
  allOff(
    ['log', 'info', 'debug', 'warn', 'error'].map((level) =>
      onMessage<unknown[]>(`console.${level}`, (args) => {
        const ids = currentIds();
        if (ids !== undefined) args.push(`trace_id=${ids.trace_id} span_id=${ids.span_id}`);
      }),
    ),
  );
