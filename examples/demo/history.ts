// The benchmark history as a small store: commits in compressed blocks on disk, an index in memory. What a database does,
// at the size of a demo: every query reads and decodes blocks.
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { deflate, gunzip, inflate } from 'node:zlib';
import { LocalSpan, traced } from 'spanline';

const COMMITS_PER_BLOCK = 64;

/** One commit as the file has it. */
export interface Commit {
  readonly commit: string;
  readonly timestamp: string;
  readonly date: number;
  readonly benches: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
}

interface Block {
  readonly offset: number;
  readonly length: number;
  readonly series: ReadonlySet<string>;
}

const inflated = promisify(inflate);
const deflated = promisify(deflate);

/** Commits in blocks, with the series each block has. */
export class History {
  private constructor(
    private readonly file: FileHandle,
    private readonly blocks: readonly Block[],
    readonly series: readonly string[],
    readonly commits: number,
    readonly points: number,
  ) {}

  /** Load the history and write it to `path` in blocks. */
  static async load(source: string, path: string): Promise<History> {
    const text = (await promisify(gunzip)(await readFile(source))).toString();
    const commits = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Commit);
    const file = await open(path, 'w+');
    const blocks: Block[] = [];
    let offset = 0;
    for (let i = 0; i < commits.length; i += COMMITS_PER_BLOCK) {
      const some = commits.slice(i, i + COMMITS_PER_BLOCK);
      const bytes = await deflated(JSON.stringify(some));
      await file.write(bytes, 0, bytes.length, offset);
      const series = new Set(some.flatMap(({ benches }) => benches.map(({ name }) => name)));
      blocks.push({ offset, length: bytes.length, series });
      offset += bytes.length;
    }
    const series = [...new Set(blocks.flatMap((block) => [...block.series]))].sort();
    const points = commits.reduce((sum, { benches }) => sum + benches.length, 0);
    return new History(file, blocks, series, commits.length, points);
  }

  /** The commits of all blocks that have one of these series. */
  @traced({ name: 'commits', properties: (series: readonly string[]) => ({ series: series.length }) })
  async commitsWith(series: readonly string[]): Promise<readonly Commit[]> {
    const found: Commit[] = [];
    for (const block of this.plan(series)) {
      const bytes = await this.read(block);
      for (const commit of await this.decode(bytes)) found.push(commit);
    }
    return found;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private plan(series: readonly string[]): readonly Block[] {
    using span = LocalSpan.start('plan');
    const blocks = this.blocks.filter((block) => series.some((name) => block.series.has(name)));
    span.addProperty('blocks', blocks.length);
    return blocks;
  }

  @traced({ name: 'read', kind: 'client', properties: ({ length }: Block) => ({ bytes: length }) })
  private async read({ offset, length }: Block): Promise<Buffer> {
    const { buffer } = await this.file.read(Buffer.allocUnsafe(length), 0, length, offset);
    return buffer;
  }

  @traced({ name: 'decode' })
  private async decode(bytes: Buffer): Promise<readonly Commit[]> {
    const text = (await inflated(bytes)).toString();
    using parse = LocalSpan.start('parse');
    parse.addProperty('chars', text.length);
    return JSON.parse(text) as Commit[];
  }
}
