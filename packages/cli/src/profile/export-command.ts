// `spanline profile export`: a profile in another format, with other labels or in its sources.

import {
  openSourceMaps,
  openWriter,
  PROFILE_FORMATS,
  resolveSources,
  selectLabels,
  WHOLE_LABEL,
} from '@spanline/profile';
import { type Commands, command, REQUIRED } from '../command.js';
import { note } from '../output.js';
import { readProfileFile, SAMPLE_TYPE, writeWhole } from './profile-files.js';

const written = async (bytes: Uint8Array, out: string | undefined): Promise<void> => {
  if (out !== undefined) {
    writeWhole(out, bytes);
    return;
  }
  await new Promise<void>((resolve) => process.stdout.write(bytes, () => resolve()));
};

export const commands = {
  export: command({
    words: '<file>',
    what: 'write a profile in another format',
    options: {
      format: ['--format <name>', 'format to write', PROFILE_FORMATS, REQUIRED],
      out: ['-o, --out <file>', 'file to write (default: standard output)'],
      by: ['--by <key>', `for speedscope: one profile per value of this label key (default: "${WHOLE_LABEL}")`],
      keep: ['--keep <keys...>', 'keep these label keys only'],
      labels: ['--no-labels', 'leave all labels out'],
      sourceMaps: ['--source-maps', 'name functions and places by source maps'],
      sampleType: SAMPLE_TYPE,
    },
    help: `
Formats:
  pprof        go tool pprof, Pyroscope and others; labels are labels of samples
  cpuprofile   Chrome DevTools, VS Code; labels are frames at the root
  speedscope   speedscope.app; all samples first, then one profile per label
  folded       flame graph scripts; labels are frames such as [query=q1]

Examples:
  $ spanline profile export cpu.pb.gz --format speedscope --by query --out cpu.speedscope.json
  $ spanline profile export cpu.pb.gz --format folded | sort -k2 -n | tail

Exit codes: 0 done, 2 wrong usage, 3 a file cannot be read or written.`,
    run: async ({ format, out, by, keep, labels, sourceMaps, sampleType }, file: string) => {
      const writer = await openWriter(format, { by });
      const read = await readProfileFile(file, { sampleType });
      const kept =
        labels && keep === undefined
          ? read
          : selectLabels(read, (key) => labels === true && keep?.includes(key) === true);
      if (!sourceMaps) {
        await written(writer.write(kept), out);
        return;
      }
      const maps = await openSourceMaps();
      await written(writer.write(resolveSources(kept, maps)), out);
      const { resolved, unmapped, broken } = maps.stats();
      note(`source maps: ${resolved} frames found, ${unmapped} without a map, ${broken} maps broken`);
    },
  }),
} satisfies Commands;
