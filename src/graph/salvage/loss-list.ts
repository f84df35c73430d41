// Lost nodes of a graph, neighbours that lack the same taken together.
import { type LostNodes, type LostPart, MAX_LISTED_KEYS } from './salvage-report.js';

interface OpenLoss {
  readonly firstOrdinal: number;
  count: number;
  readonly parts: readonly LostPart[];
  readonly keys: Buffer[];
}

/** Gathers lost nodes in the order of their ordinals. */
export class LossList {
  private readonly losses: OpenLoss[] = [];
  private listed = 0;

  add(ordinal: number, parts: readonly LostPart[], key: Uint8Array | undefined): void {
    const last = this.losses[this.losses.length - 1];
    const isNext = last !== undefined && last.firstOrdinal + last.count === ordinal;
    const loss = isNext && last.parts.join() === parts.join() ? last : this.begin(ordinal, parts);
    loss.count++;
    if (key === undefined || this.listed === MAX_LISTED_KEYS) return;
    this.listed++;
    loss.keys.push(Buffer.from(key));
  }

  result(): LostNodes[] {
    return this.losses;
  }

  private begin(firstOrdinal: number, parts: readonly LostPart[]): OpenLoss {
    const loss = { firstOrdinal, count: 0, parts, keys: [] };
    this.losses.push(loss);
    return loss;
  }
}
