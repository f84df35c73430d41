// Parses the output of spanline's own benchmarks, `npm run -s bench -- SUITE --json`. Figures of different machines must never
// end up in one series: absolute times hold for one machine only.
import { badFile, pointer, shown } from './bad-file.js';
import {
  checkedCommit,
  checkedTimeMs,
  type IngestCommit,
  type IngestContext,
  PointList,
  TIME_MS,
} from './ingest-commit.js';
import { either, integer, list, number, object, oneOf, type Shaped, shaped, text } from './shape.js';

/** Figures of a result that become points, with the value of their param `stat`. A spread is not a figure to watch. */
const STATS = [
  ['min', 'min'],
  ['median', 'median'],
  ['totalMedian', 'total_median'],
] as const;

const FIGURE = either(number(), oneOf(null));

/** The output; other properties are allowed and not looked at. */
const OUTPUT = object(
  {
    suite: text(1),
    machine: object({ cpu: text(), platform: text() }, { cores: integer() }),
    results: list(
      object(
        { subject: text(1), name: text(1), unit: text(1) },
        { n: either(number(), text()), node: text(), min: FIGURE, median: FIGURE, totalMedian: FIGURE },
      ),
    ),
  },
  { commit: text(1), date: TIME_MS },
);

const commitOf = (at: string, inFile: string | undefined, given: string | undefined): string => {
  if (inFile !== undefined && given !== undefined && inFile !== given) {
    throw badFile(at, '/commit', `is ${shown(inFile)}, but the commit given is ${shown(given)}`);
  }
  const commit = inFile ?? given;
  if (commit === undefined) throw badFile(at, '', 'does not say which commit it measured; give it (--commit)');
  return checkedCommit(at, inFile === undefined ? '' : '/commit', commit);
};

/** What the results of one output have in common. The release of the kernel and the patch of Node would start new series. */
const commonParams = ({ suite, machine: { cpu, platform, cores } }: Shaped<typeof OUTPUT>): Record<string, string> => ({
  suite,
  cpu,
  platform: platform.split(' ', 1)[0],
  ...(cores !== undefined && { cores: String(cores) }),
});

/** The one commit of a benchmark's output. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const parseSpanlineBench = (document: unknown, context: IngestContext): readonly IngestCommit[] => {
  const at = context.name;
  const output = shaped(OUTPUT, at, document);
  const commit = commitOf(at, output.commit, context.commit);
  const common = commonParams(output);
  const points = new PointList(at, context.cleaner);
  output.results.forEach((result, index) => {
    const { subject, name, n, unit, node } = result;
    const params = {
      ...common,
      subject,
      test: name,
      unit,
      ...(n !== undefined && { n: String(n) }),
      ...(node && { node: node.split('.', 1)[0] }),
    };
    for (const [property, stat] of STATS) {
      const value = result[property];
      if (typeof value === 'number') points.add(pointer('/results', index, property), { ...params, stat }, value);
    }
  });
  const measuredMs = checkedTimeMs(at, '/date', output.date ?? context.measuredMs());
  const { commitMs } = context;
  const made = commitMs === undefined ? {} : { timestampMs: commitMs };
  return [{ commit, ...made, measuredMs, source: `${at}#${output.suite}`, points: points.points }];
};
