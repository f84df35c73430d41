// The traces that meet every condition. An id tells by itself whether a condition holds, so only one input is read: the one with the
// fewest ids here. Which one that is changes along the tile, since ids that follow one another are alike: where long runs of ids
// fail one condition, that condition's own ids are fewer, and reading goes on with them, behind the gap. The answer must be the
// same whichever is read.
import type { Span } from 'spanline';
import { BATCH_IDS, behind, type IdStream, lowerBound, SpannedNode } from './id-node.js';

/** A condition of an intersection. */
export interface IntersectionInput {
  readonly node: IdStream;
  /** The same condition asked of one id. */
  readonly test: (id: string) => boolean;
}

interface Input extends IntersectionInput {
  /** One batch of its ids, and where in it. */
  ids: readonly string[];
  at: number;
  /** There are no more behind these. */
  isLast: boolean;
  /** Ids that were asked about it since the last one that met it. */
  misses: number;
  /** Misses after which it is compared with the input that is read; about what a new read costs, in ids. */
  patience: number;
  /** Misses of all ids. */
  refused: number;
}

const PATIENCE = 128;
const MAX_PATIENCE = 1 << 16;
/** Ids that two inputs are compared by. */
const SAMPLE_IDS = 64;
/** Ids read until inputs that refuse many, but in no long runs, are compared for the first time; each time doubles it. */
const FIRST_REVIEW_IDS = 2048;
/** The share of ids that such an input refuses: below it, it cannot be much rarer. */
const REVIEW_REFUSED = 0.7;
/** Ids of the first batch, so that it comes soon; each one is twice as large as the one before, up to BATCH_IDS. */
const FIRST_BATCH_IDS = 16;
/** Ids looked at for one batch, once it has any. */
const MAX_LOOKS = 8192;

/** The intersection of its inputs, of which there is at least one; the one likely to have the fewest ids comes first. */
export class Intersection extends SpannedNode {
  readonly #inputs: Input[];
  /** The input that is read. */
  #reader: Input;
  /** All others. */
  #others: Input[];
  #batchIds = FIRST_BATCH_IDS;
  #looked = 0;
  #lookedByReader = 0;
  #reviewAfter = FIRST_REVIEW_IDS;
  #switches = 0;
  #isOver = false;

  readonly #checks: readonly ((id: string) => boolean)[];

  /** @param checks Conditions that are only asked of ids, because reading them would take too many streams. */
  constructor(
    inputs: readonly [IntersectionInput, ...IntersectionInput[]],
    checks: readonly ((id: string) => boolean)[],
    span: Span | undefined,
  ) {
    super(span);
    this.#checks = checks;
    this.#inputs = inputs.map((input) => ({
      ...input,
      ids: [],
      at: 0,
      isLast: false,
      misses: 0,
      patience: PATIENCE,
      refused: 0,
    }));
    [this.#reader, ...this.#others] = this.#inputs as [Input, ...Input[]];
  }

  protected async readOn(): Promise<readonly string[] | undefined> {
    const out: string[] = [];
    const lastLook = this.#looked + MAX_LOOKS;
    while (!this.#isOver && out.length < this.#batchIds && (out.length === 0 || this.#looked < lastLook)) {
      const reader = this.#reader;
      if (reader.at === reader.ids.length && !(await this.#refill(reader))) break;
      const rival = this.#scan(out) ?? this.#review();
      if (rival !== undefined) await this.#compare(rival);
    }
    this.#batchIds = Math.min(2 * this.#batchIds, BATCH_IDS);
    return this.gave(out);
  }

  async close(): Promise<void> {
    await this.#endReads();
    this.endSpan('switches', this.#switches);
  }

  /** Add ids that meet all to `out`, from those at hand; returns the input that a long run of ids does not meet. */
  #scan(out: string[]): Input | undefined {
    const reader = this.#reader;
    const others = this.#others;
    const checks = this.#checks;
    const batchIds = this.#batchIds;
    const { ids } = reader;
    let { at } = reader;
    let rival: Input | undefined;
    for (; at < ids.length && out.length < batchIds && rival === undefined; at++) {
      const id = ids[at] as string;
      let isMatch = true;
      for (const input of others) {
        if (input.test(id)) {
          input.misses = 0;
          continue;
        }
        isMatch = false;
        input.refused++;
        if (++input.misses >= input.patience) rival = input;
        break;
      }
      if (!isMatch) continue;
      for (const check of checks) {
        isMatch = check(id);
        if (!isMatch) break;
      }
      if (isMatch) out.push(id);
    }
    this.#looked += at - reader.at;
    this.#lookedByReader += at - reader.at;
    reader.at = at;
    return rival;
  }

  /** From time to time, the input that refused most of the ids it was asked about, if those are many. */
  #review(): Input | undefined {
    if (this.#lookedByReader < this.#reviewAfter) return undefined;
    this.#reviewAfter *= 2;
    let max: Input | undefined;
    let maxRefused = REVIEW_REFUSED;
    let asked = this.#lookedByReader;
    for (const input of this.#others) {
      const refused = input.refused / asked;
      if (refused > maxRefused) {
        max = input;
        maxRefused = refused;
      }
      asked -= input.refused;
    }
    return max;
  }

  /** Go on with the reader or with `rival`, whichever has fewer ids from here on. */
  async #compare(rival: Input): Promise<void> {
    const reader = this.#reader;
    // The reader stands behind ids that it has given out, or on the first that it has not.
    const here =
      reader.at < reader.ids.length ? (reader.ids[reader.at] as string) : behind(reader.ids.at(-1) as string);
    if (!(await this.#moveTo(rival, here)) || !(await this.#sample(rival))) return;
    const there = rival.ids[rival.at] as string;
    const isGap = lowerBound(reader.ids, there, reader.at) === reader.ids.length;
    if (!(await this.#moveTo(reader, there)) || !(await this.#sample(reader))) return;
    // As far as both are known.
    const [end] = [reader, rival].flatMap(({ ids, isLast }) => (isLast ? [] : (ids.at(-1) as string))).sort();
    const within = ({ ids, at }: Input): number => (end === undefined ? ids.length : lowerBound(ids, end, at)) - at;
    const isSwitch = within(rival) < within(reader);
    rival.misses = 0;
    // One that is worth it each time is asked as often as it may; others ever less.
    rival.patience = isSwitch || isGap ? PATIENCE : Math.min(2 * rival.patience, MAX_PATIENCE);
    if (isSwitch) {
      this.#switches++;
      this.#reader = rival;
      this.#others = this.#others.map((input) => (input === rival ? reader : input));
      this.#lookedByReader = 0;
      for (const input of this.#others) {
        input.misses = 0;
        input.refused = 0;
      }
      reader.patience = PATIENCE;
    }
    const idle = isSwitch ? reader : rival;
    if (!idle.isLast) await idle.node.pause();
  }

  /** Put an input on its first id that is not below `id`; false at its end, which is that of the answer. */
  async #moveTo(input: Input, id: string): Promise<boolean> {
    input.at = lowerBound(input.ids, id, input.at);
    if (input.at < input.ids.length) return true;
    if (!input.isLast) await input.node.skipTo(id);
    return this.#refill(input);
  }

  /** Read on until there are enough ids to compare, or no more. */
  async #sample(input: Input): Promise<boolean> {
    while (!input.isLast && input.ids.length - input.at < SAMPLE_IDS) {
      const more = await this.waitFor(input.node.next());
      if (this.#isOver) return false;
      if (more === undefined) {
        input.isLast = true;
        break;
      }
      this.figures.idsIn += more.length;
      input.ids = [...input.ids.slice(input.at), ...more];
      input.at = 0;
    }
    return true;
  }

  async #refill(input: Input): Promise<boolean> {
    const ids = input.isLast ? undefined : await this.waitFor(input.node.next());
    if (ids === undefined) {
      // The answer is over but for the ids on their way out, which the span has yet to count.
      await this.#endReads();
      return false;
    }
    this.figures.idsIn += ids.length;
    input.ids = ids;
    input.at = 0;
    return !this.#isOver;
  }

  async #endReads(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#inputs.map(({ node }) => node.close()));
  }
}
