// Reports spans to a Jaeger agent over UDP: packs, sends, and learns what the system reports of their arrival.
// Datagrams that a network or a full receive buffer swallows are nobody's to know; that stays true however this is written.

import { Slices } from '../../base/calls/timers.js';
import { type ReportBatch, ReportError } from '../../collector/reporter.js';
import { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import type { ThriftWriter } from '../../formats/jaeger-thrift/thrift-writer.js';
import { QueuedReporter } from '../http/sender.js';
import { DeliveryProgress, type OnTooLarge, type PackedMessage, packBatch } from './pack-batch.js';
import { UdpSocket } from './udp-socket.js';

export interface UdpReporterParts {
  readonly writer: ThriftWriter;
  readonly host: string;
  readonly port: number;
  readonly maxPacketBytes: number;
  readonly keepNanoseconds: boolean;
}

type SentPacket = Omit<PackedMessage, 'bytes'> & { readonly byteLength: number };

const toSentPacket = ({ spanCount, throughSpan, bytes }: PackedMessage): SentPacket => ({
  spanCount,
  throughSpan,
  byteLength: bytes.length,
});

export class UdpReporter extends QueuedReporter {
  override readonly name = 'jaeger';
  readonly #socket: UdpSocket;
  readonly #packer: BatchPacker;
  readonly #progress: DeliveryProgress;
  readonly #counts = { packetsSent: 0, spansSent: 0, bytesSent: 0, refused: 0 };

  constructor(parts: UdpReporterParts) {
    super();
    const { host, port, maxPacketBytes } = parts;
    this.#socket = new UdpSocket(host, port, maxPacketBytes);
    this.#packer = new BatchPacker(parts.writer, 'agent-call', maxPacketBytes, parts.keepNanoseconds);
    this.#progress = new DeliveryProgress(`JaegerReporter (UDP ${host}:${port})`, maxPacketBytes, 'maxPacketBytes');
  }

  get lastError(): string {
    return this.#progress.lastError;
  }

  /** The system takes packets of an open socket at once, so they go out even while the process exits; none is confirmed. */
  reportSync(batch: ReportBatch): void {
    for (const message of this.#pack(batch)) {
      if (message === null) continue;
      this.#socket.sendNow(message.bytes);
      this.#count(toSentPacket(message));
    }
  }

  override stats(): Readonly<Record<string, number>> {
    return {
      ...this.#counts,
      spansTooLarge: this.#progress.spansTooLarge,
      lateRefusals: this.#socket.lateRefusals,
    };
  }

  protected override close(): void {
    this.#socket.close();
  }

  protected override async deliver(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const sent: SentPacket[] = [];
    try {
      await this.#socket.open();
      await this.#sendAll(batch, signal, sent);
      await this.#socket.settle();
    } catch (error) {
      if (error instanceof ReportError && error.code === 'ERR_SPANLINE_UDP_REFUSED') this.#counts.refused++;
      throw error;
    } finally {
      const arrived = sent.slice(0, this.#socket.arrived);
      for (const packet of arrived) this.#count(packet);
      const last = arrived.at(-1);
      if (last !== undefined) this.#progress.of(batch).settle({ from: 0, to: last.throughSpan });
      await this.#socket.endReport();
    }
  }

  async #sendAll(batch: ReportBatch, signal: AbortSignal, sent: SentPacket[]): Promise<void> {
    const slices = new Slices();
    for (const message of this.#pack(batch, slices)) {
      if (message === null) {
        await slices.next();
      } else {
        sent.push(toSentPacket(message));
        await this.#socket.send(message.bytes);
      }
      signal.throwIfAborted();
    }
  }

  #pack(batch: ReportBatch, slices?: Slices): Generator<PackedMessage | null, void> {
    const onTooLarge: OnTooLarge = (...about) => this.#progress.tooLarge(batch, ...about);
    return packBatch(this.#packer, batch, this.#progress.of(batch).ranges, onTooLarge, slices);
  }

  #count(packet: SentPacket): void {
    this.#counts.packetsSent++;
    this.#counts.spansSent += packet.spanCount;
    this.#counts.bytesSent += packet.byteLength;
  }
}
