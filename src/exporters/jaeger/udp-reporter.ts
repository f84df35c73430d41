// Reports spans to a Jaeger agent over UDP: packs, sends, and learns what the system reports of their arrival.
// Datagrams that a network or a full receive buffer swallows are nobody's to know; that stays true however this is written.

import { Slices } from '../../base/calls/timers.js';
import { type ReportBatch, ReportError } from '../../collector/reporter.js';
import { BatchPacker } from '../../formats/jaeger-thrift/batch-packer.js';
import { BinaryWriter } from '../../formats/jaeger-thrift/binary-writer.js';
import { CompactWriter } from '../../formats/jaeger-thrift/compact-writer.js';
import { QueuedReporter } from '../http/sender.js';
import { type JaegerUdpOptions, resolveUdp } from './options.js';
import { DeliveryProgress, type PackedMessage } from './pack-batch.js';
import { UdpSocket } from './udp-socket.js';

export class UdpReporter extends QueuedReporter {
  override readonly name = 'jaeger';
  readonly #socket: UdpSocket;
  readonly #progress: DeliveryProgress;
  readonly #counts = { packetsSent: 0, spansSent: 0, bytesSent: 0, refused: 0 };

  constructor(options: JaegerUdpOptions) {
    super();
    const { host, port, maxPacketBytes, keepNanoseconds } = resolveUdp(options);
    const writer = options.protocol === 'thrift-compact-udp' ? new CompactWriter() : new BinaryWriter();
    const packer = new BatchPacker(writer, 'agent-call', maxPacketBytes, keepNanoseconds);
    this.#socket = new UdpSocket(host, port, maxPacketBytes);
    this.#progress = new DeliveryProgress(`JaegerReporter (UDP ${host}:${port})`, packer, 'maxPacketBytes');
  }

  get lastError(): string {
    return this.#progress.lastError;
  }

  /** The system takes packets of an open socket at once, so they go out even while the process exits; none is confirmed. */
  reportSync(batch: ReportBatch): void {
    for (const message of this.#progress.pack(batch)) {
      if (message === null) continue;
      this.#socket.sendNow(message.bytes);
      this.#count(message);
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
    const sent: PackedMessage[] = [];
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

  async #sendAll(batch: ReportBatch, signal: AbortSignal, sent: PackedMessage[]): Promise<void> {
    const slices = new Slices();
    for (const message of this.#progress.pack(batch, slices)) {
      if (message === null) {
        await slices.next();
      } else {
        sent.push(message);
        await this.#socket.send(message.bytes);
      }
      signal.throwIfAborted();
    }
  }

  /** Of a packet whose bytes may be another's by now: their number stays. */
  #count({ spanCount, bytes }: PackedMessage): void {
    this.#counts.packetsSent++;
    this.#counts.spansSent += spanCount;
    this.#counts.bytesSent += bytes.length;
  }
}
