// Services as Jaeger names them: spans whose resource names none are listed under a name of Jaeger's.
import { MISSING_SERVICE } from '../jaeger/shown-trace.js';
import type { ArchiveReader, ReadOptions } from './ports.js';

/** All services, sorted. */
export const shownServices = async (archive: ArchiveReader, options: ReadOptions): Promise<string[]> => {
  const names = await archive.services(options);
  return [...new Set(names.map((name) => (name === '' ? MISSING_SERVICE : name)))].sort();
};

/** The service that a name stands for in the archive. */
export const meantService = async (
  archive: ArchiveReader,
  name: string | undefined,
  options: ReadOptions,
): Promise<string | undefined> => {
  if (name !== MISSING_SERVICE) return name;
  return (await archive.services(options)).includes('') ? '' : name;
};
