// Which codec a block of keys takes: the one whose stored form is smallest. Trying costs time, so only what may win is tried; the same
// keys must always give the same choice.

import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { type Compression, type Stored, store } from '../../container/codec.js';
import { entropyBytes, RANDOM_SHARE } from './entropy.js';
import { encodeKeys, isPossible, type KeyCodec } from './key-block.js';
import type { KeysToEncode } from './key-codec.js';

/** Estimates are wrong by this share at most, nearly always. */
const DOUBT = 0.15;

/** The two parts of a block; valid until the next one is encoded. */
export interface EncodedKeys {
  readonly keys: Buffer;
  /** `keys` as they are stored, where that had to be tried. */
  readonly storedKeys: Stored | undefined;
  readonly tails: Buffer;
}

interface Candidate {
  readonly codec: KeyCodec;
  readonly keys: ByteWriter;
  readonly tails: ByteWriter;
  estimate: number;
  stored: Stored | undefined;
}

/** Encodes blocks of keys; keeps its buffers from block to block. */
export class KeyEncoder {
  private readonly candidates: Readonly<Record<KeyCodec, Candidate>>;

  constructor(
    private readonly wanted: KeyCodec | 'auto',
    private readonly compression: Compression,
  ) {
    const candidate = (codec: KeyCodec): Candidate => ({
      codec,
      keys: new ByteWriter(64 * 1024),
      tails: new ByteWriter(),
      estimate: 0,
      stored: undefined,
    });
    this.candidates = { fixed: candidate('fixed'), front: candidate('front'), grouped: candidate('grouped') };
  }

  /** Encode a block. A codec that was asked for and is not possible gives way to `front`. */
  encode(keys: KeysToEncode): EncodedKeys {
    const chosen = this.wanted === 'auto' ? this.choose(keys) : this.forced(this.wanted, keys);
    return { keys: chosen.keys.view(), storedKeys: chosen.stored, tails: chosen.tails.view() };
  }

  private forced(codec: KeyCodec, keys: KeysToEncode): Candidate {
    return this.tryCodec(isPossible(codec, keys) ? codec : 'front', keys);
  }

  private tryCodec(codec: KeyCodec, keys: KeysToEncode): Candidate {
    const candidate = this.candidates[codec];
    candidate.keys.clear();
    candidate.tails.clear();
    candidate.stored = undefined;
    encodeKeys(candidate.keys, candidate.tails, codec, keys);
    candidate.estimate = entropyBytes(candidate.keys.view()) + candidate.tails.length;
    return candidate;
  }

  private choose(keys: KeysToEncode): Candidate {
    const possible: Candidate[] = [];
    for (const codec of ['grouped', 'fixed'] as const) {
      if (isPossible(codec, keys)) possible.push(this.tryCodec(codec, keys));
    }
    // Random ids: nothing shrinks them further, and front coding has more bytes than either.
    const smallest = possible.reduce<Candidate | undefined>(
      (least, next) => (least === undefined || next.keys.length < least.keys.length ? next : least),
      undefined,
    );
    if (smallest !== undefined && smallest.estimate > smallest.keys.length * RANDOM_SHARE) return smallest;
    possible.push(this.tryCodec('front', keys));
    const best = Math.min(...possible.map(({ estimate }) => estimate));
    const plausible = possible.filter(({ estimate }) => estimate <= best * (1 + DOUBT));
    if (plausible.length === 1) return plausible[0];
    const sizes = plausible.map((candidate) => {
      candidate.stored = store(candidate.keys.view(), this.compression);
      return candidate.stored.bytes.length + candidate.tails.length;
    });
    return plausible[sizes.indexOf(Math.min(...sizes))];
  }
}
