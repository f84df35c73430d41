// Shapes that were accepted, as a text file beside the tests that people read in reviews: a line `== name`, then the tree, indented. A name that
// is not asked for stays as it is. Writing must leave the old file or the new one, never a part.
import { readFileSync } from 'node:fs';
import { SpanlineError } from '../base/errors.js';
import { runSync } from '../base/files/fs-steps.js';
import { writeWhole } from '../base/files/whole-file.js';

const HEAD = `# Shapes of traces, kept by expectTraceShape of spanline/testing. To accept changes, run the tests with SPANLINE_UPDATE_SHAPES=1.
`;
const MARK = '== ';
const INDENT = '  ';

const parse = (text: string, file: string): Map<string, string> => {
  const shapes = new Map<string, string>();
  let lines: string[] | undefined;
  let name = '';
  const end = (): void => {
    if (lines !== undefined) shapes.set(name, lines.join('\n'));
  };
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith(MARK)) {
      end();
      [name, lines] = [line.slice(MARK.length), []];
    } else if (lines !== undefined && line.startsWith(INDENT)) {
      lines.push(line.slice(INDENT.length));
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      throw new SpanlineError(
        'ERR_SPANLINE_SHAPES_FILE',
        `${file}, line ${i + 1}: neither "${MARK}name" nor an indented line of a shape; mend it or delete the file and run the tests with SPANLINE_UPDATE_SHAPES=1`,
      );
    }
  }
  end();
  return shapes;
};

/** The shapes in a file by their names; none when there is no file. Throws `ERR_SPANLINE_SHAPES_FILE` for one that is no such file. */
export const readShapes = (file: string): Map<string, string> => {
  try {
    return parse(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
};

/** Keep a shape under a name. Reads the file anew: tests of one process may take turns. */
export const keepShape = (file: string, name: string, drawn: string): void => {
  const shapes = readShapes(file).set(name, drawn);
  const parts = [...shapes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([each, text]) => `\n${MARK}${each}\n${text.replace(/^/gm, INDENT)}\n`);
  runSync(writeWhole(file, [Buffer.from(HEAD + parts.join(''))], { makesDirectory: true }));
};
