// What people said of changes in history files, kept beside them as JSON lines, so that it can be committed with them. A line is only ever added; the
// last one of a change counts. A line that is none must not hide the others.
import { appendFile, readFile } from 'node:fs/promises';
import { HttpError } from '@spanline/archive/internal';
import type { TriagedChange } from '@spanline/tracedb/internal';

/** A judgement, of a commit by its hash: numbers change when files do. */
export interface KeptJudgement extends Omit<TriagedChange, 'commit'> {
  readonly commit: string;
}

const isKept = (value: unknown): value is KeptJudgement => {
  const { commit, key, status, by, atMs } = (value ?? {}) as Partial<KeptJudgement>;
  return [commit, key, status, by].every((text) => typeof text === 'string') && typeof atMs === 'number';
};

const parsed = (line: string): KeptJudgement | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isKept(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The last judgement of each change; none where there is no file. */
export const readJudgements = async (file: string): Promise<readonly KeptJudgement[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new HttpError(400, `${file} cannot be read: ${error.message}`);
  });
  const last = new Map<string, KeptJudgement>();
  for (const line of text.split('\n')) {
    const judgement = parsed(line);
    if (judgement !== undefined) last.set(`${judgement.commit} ${judgement.key}`, judgement);
  }
  return [...last.values()];
};

/** Keep a judgement. */
export const addJudgement = async (file: string, judgement: KeptJudgement): Promise<void> => {
  await appendFile(file, `${JSON.stringify(judgement)}\n`).catch((error: Error) => {
    throw new HttpError(400, `${file} cannot be written, so nothing was kept: ${error.message}`);
  });
};
