// What a format of benchmark output is. A format must recognise its output by its form alone: programs are renamed and wrapped.
import type { BenchFigure } from '../figure.js';

/** A benchmark tool's output. */
export interface BenchFormat {
  readonly name: string;
  /** The figures of a document of this format; undefined for one of another. Throws where it is of this format and says that it failed. */
  figures(document: unknown): readonly BenchFigure[] | undefined;
}
