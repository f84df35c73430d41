// Reads what `hyperfine --export-json FILE` writes. A run that failed must never count as a quick one.
import { integer, list, number, object, text } from '../../ingest/shape.js';
import { badOutput } from '../bench-error.js';
import { type BenchFigure, figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const MS_PER_S = 1e3;

const REPORT = object(
  {
    results: list(
      object(
        { command: text(1), median: number(), times: list(number()) },
        { user: number(), system: number(), exit_codes: list(integer()) },
      ),
    ),
  },
  {},
);

interface Result {
  readonly command: string;
  readonly median: number;
  readonly times: readonly number[];
  readonly user?: number;
  readonly system?: number;
  readonly exit_codes?: readonly number[];
}

const ofResult = ({ command, median, times, user, system, exit_codes }: Result): readonly BenchFigure[] => {
  const failed = exit_codes?.find((code) => code !== 0);
  if (failed !== undefined) throw badOutput(`hyperfine: ${command} ended with ${failed}`);
  const wall = figureOf({ bench: command, metric: 'wall', unit: 'ms' }, median, times, MS_PER_S);
  if (user === undefined || system === undefined) return [wall];
  return [wall, figureOf({ bench: command, metric: 'cpu', unit: 'ms' }, (user + system) * MS_PER_S)];
};

export const HYPERFINE: BenchFormat = {
  name: 'hyperfine',
  figures(document) {
    if (REPORT(document, false).length > 0) return undefined;
    return (document as { readonly results: readonly Result[] }).results.flatMap(ofResult);
  },
};
