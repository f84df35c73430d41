// A connected UDP socket that sends packets in order, a few at a time, and notices when nothing listens at the other end.
// It must not keep the process alive, and must not report a packet as arrived that the system said was refused.
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sleep } from '../../base/calls/timers.js';
import { ReportError } from '../../collector/reporter.js';

/** Packets that wait for room in the send buffer. Bounds memory. */
const MAX_IN_FLIGHT = 2;
/**
 * A burst, and the pause after it. A receiver's buffer holds 208 KiB by default on Linux, where small packets take many
 * times their size, and what does not fit is dropped without a word; so a receiver gets time to empty it. This still lets
 * 60 MB through in a second, which is some 350,000 spans.
 */
const BURST_BYTES = 128 * 1024;
const BURST_PACKETS = 64;
const PAUSE_MS = 2;
/**
 * How long a refusal may take to come back after the last packet of a report. Enough for a near host, and for this one when it is busy: Linux
 * then leaves the refusal to a thread of its own, which waits for a core as all others do.
 */
const REFUSAL_GRACE_MS = 20;

type NodeError = Error & { code?: string };

export class UdpSocket {
  #socket: Socket | null = null;
  #failure: NodeError | null = null;
  /** Buffers that are not in flight. */
  readonly #free: Buffer[] = [];
  #inFlight = 0;
  #sent = 0;
  /**
   * How many packets since {@link open} have arrived as far as the system reports: a refusal is reported at the latest with the
   * next packet, so a packet counts once the next one has gone out without an error.
   */
  arrived = 0;
  #burstBytes = 0;
  #burstPackets = 0;
  #wake: (() => void) | null = null;
  #isReporting = false;
  /** Refusals that came after the report they belong to had ended: those packets are lost, and nobody could know. */
  lateRefusals = 0;

  constructor(
    readonly host: string,
    readonly port: number,
    readonly maxBytes: number,
  ) {
    for (let i = 0; i < MAX_IN_FLIGHT; i++) this.#free.push(Buffer.allocUnsafeSlow(maxBytes));
  }

  /** Connects if need be and starts counting packets anew. */
  async open(): Promise<void> {
    this.#failure = null;
    this.#sent = this.arrived = 0;
    this.#isReporting = true;
    if (this.#socket !== null) return;
    const socket = createSocket(isIPv6(this.host) ? 'udp6' : 'udp4');
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        // At run time the callback gets a failed look-up, and 'error' is then not emitted.
        socket.connect(this.port, this.host, ((error?: Error) => (error ? reject(error) : resolve())) as () => void);
      });
    } catch (cause) {
      socket.close();
      this.#failure = cause as NodeError;
      throw this.#toReportError(this.#failure);
    }
    // The first socket of a process costs milliseconds to make, and the encoding that follows takes its own slice.
    await nextTurn();
    socket.removeAllListeners('error');
    socket.on('error', (error: NodeError) => this.#noteError(socket, error));
    socket.unref();
    this.#socket = socket;
  }

  /** Copies the packet and sends it; waits while too many are in flight. Throws the system's error about earlier ones. */
  async send(packet: Buffer): Promise<void> {
    await this.#pace(packet.length);
    while (this.#free.length === 0) await this.#nextAnswer();
    this.#throwIfFailed();
    const socket = this.#connected();
    const buffer = this.#free.pop() as Buffer;
    packet.copy(buffer);
    this.#inFlight++;
    const number = this.#sent++;
    const onAnswer = (error?: Error | null): void => {
      this.#free.push(buffer);
      this.#inFlight--;
      if (error) this.#failure ??= error;
      else if (this.#failure === null && number > this.arrived) this.arrived = number;
      this.#wake?.();
    };
    try {
      socket.send(buffer, 0, packet.length, onAnswer);
    } catch (error) {
      onAnswer(error as Error);
    }
  }

  /** Sends without waiting, for the last moments of a process. The system takes the packet at once or not at all. */
  sendNow(packet: Buffer): void {
    this.#connected().send(Buffer.from(packet), () => {});
  }

  /** Waits for all packets of this report, and a moment longer for a refusal of the last. */
  async settle(): Promise<void> {
    while (this.#inFlight > 0) await this.#nextAnswer();
    if (this.#failure === null) {
      // Not unref'ed: somebody awaits the flush behind this, and the process leaves that much later at the most.
      await sleep(REFUSAL_GRACE_MS);
      // Of a timer and a refusal that are both due the timer comes first.
      await nextTurn();
    }
    this.#throwIfFailed();
    this.arrived = this.#sent;
  }

  /** Ends a report, whatever became of it. After a failure the next one looks the host up again. */
  async endReport(): Promise<void> {
    while (this.#inFlight > 0) await this.#nextAnswer();
    this.#isReporting = false;
    if (this.#failure !== null) this.close();
  }

  close(): void {
    this.#socket?.close();
    this.#socket = null;
  }

  async #pace(bytes: number): Promise<void> {
    this.#burstBytes += bytes;
    if (this.#burstBytes > BURST_BYTES || ++this.#burstPackets > BURST_PACKETS) {
      await sleep(PAUSE_MS);
      this.#burstBytes = bytes;
      this.#burstPackets = 1;
    }
  }

  #connected(): Socket {
    if (this.#socket === null) {
      this.#throwIfFailed();
      throw new ReportError('ERR_SPANLINE_UDP_CLOSED', `the UDP socket to ${this.host}:${this.port} is not open`);
    }
    return this.#socket;
  }

  #noteError(socket: Socket, error: NodeError): void {
    if (socket !== this.#socket) return;
    if (this.#isReporting) this.#failure ??= error;
    else this.lateRefusals++;
    this.#wake?.();
  }

  #nextAnswer(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  #throwIfFailed(): void {
    if (this.#failure !== null) throw this.#toReportError(this.#failure);
  }

  #toReportError(cause: NodeError): ReportError {
    const where = `${this.host}:${this.port}`;
    if (cause.code === 'ECONNREFUSED') {
      return new ReportError(
        'ERR_SPANLINE_UDP_REFUSED',
        `nothing listens on UDP ${where}: start a Jaeger agent there, set host and port, or use protocol 'otlp'`,
        { cause },
      );
    }
    if (cause.code === 'EMSGSIZE') {
      return new ReportError(
        'ERR_SPANLINE_UDP_PACKET_SIZE',
        `the system refuses packets of up to ${this.maxBytes} bytes to UDP ${where}: lower maxPacketBytes`,
        { retryable: false, cause },
      );
    }
    return new ReportError('ERR_SPANLINE_UDP', `sending to UDP ${where} failed: ${cause.message}`, { cause });
  }
}
