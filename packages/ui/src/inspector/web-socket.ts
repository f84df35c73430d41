// A WebSocket client (RFC 6455) as small as V8's inspector needs: text both ways, nothing negotiated. Node 20 has none of its own. Must
// never hold more than its bound of what a stranger sends.
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { timers } from 'spanline/internal/base';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MAX_BYTES = 512 << 20;
const HANDSHAKE_MS = 5000;

const Opcode = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

const FIN = 0x80;
const MASKED = 0x80;
const SHORT = 126;
const LONG = 127;
const MASK_BYTES = 4;

const frameOf = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload;
  const extra = length < SHORT ? 0 : length <= 0xffff ? 2 : 8;
  const head = Buffer.alloc(2 + extra + MASK_BYTES);
  head[0] = FIN | opcode;
  head[1] = MASKED | (extra === 0 ? length : extra === 2 ? SHORT : LONG);
  if (extra === 2) head.writeUInt16BE(length, 2);
  if (extra === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(MASK_BYTES);
  mask.copy(head, 2 + extra);
  const masked = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) masked[i] = payload[i] ^ mask[i % MASK_BYTES];
  return Buffer.concat([head, masked]);
};

interface Frame {
  readonly isLast: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Bytes as frames. */
class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  #wanted = 2;

  /** The frames that are complete by now. */
  *read(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= this.#wanted) {
      const bytes = Buffer.concat(this.#chunks);
      this.#chunks = [bytes];
      const short = bytes[1] & ~MASKED;
      const head = short === SHORT ? 4 : short === LONG ? 10 : 2;
      if (bytes.length < head) {
        this.#wanted = head;
        return;
      }
      const length =
        short === SHORT ? bytes.readUInt16BE(2) : short === LONG ? Number(bytes.readBigUInt64BE(2)) : short;
      if (length > MAX_BYTES)
        throw new RangeError(`a message of ${length} bytes is more than the ${MAX_BYTES} allowed`);
      this.#wanted = head + length;
      if (bytes.length < this.#wanted) return;
      const payload = bytes.subarray(head, this.#wanted);
      const rest = bytes.subarray(this.#wanted);
      this.#chunks = [rest];
      this.#size = rest.length;
      this.#wanted = 2;
      yield { isLast: (bytes[0] & FIN) !== 0, opcode: bytes[0] & 0x0f, payload };
    }
  }
}

const upgraded = (url: URL): Promise<{ socket: Socket; rest: Buffer }> =>
  new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64');
    const asked = request({
      host: url.hostname,
      port: url.port,
      path: url.pathname,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
      },
      timeout: HANDSHAKE_MS,
    });
    asked.on('timeout', () => asked.destroy(new Error(`${url.host} did not answer within ${HANDSHAKE_MS} ms`)));
    asked.on('error', reject);
    asked.on('response', ({ statusCode }) => {
      asked.destroy();
      reject(new Error(`${url.host} answered ${statusCode}, no WebSocket`));
    });
    asked.on('upgrade', (response, socket: Socket, rest) => {
      const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64');
      if (response.headers['sec-websocket-accept'] === accept) resolve({ socket, rest });
      else {
        socket.destroy();
        reject(new Error(`${url.host} is not a WebSocket server`));
      }
    });
    asked.end();
  });

export class WebSocketClient {
  readonly #reader = new FrameReader();
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** Called with each message. */
  onMessage: (text: string) => void = () => undefined;
  /** Called once, when no message can come any more. */
  onClose: (error: Error | undefined) => void = () => undefined;

  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    let failure: Error | undefined;
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => this.onClose(failure));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async connect(address: string): Promise<WebSocketClient> {
    const { socket, rest } = await upgraded(new URL(address));
    const client = new WebSocketClient(socket);
    if (rest.length > 0) timers.setImmediate(() => client.#take(rest));
    return client;
  }

  send(text: string): void {
    this.#socket.write(frameOf(Opcode.text, Buffer.from(text)));
  }

  close(): void {
    this.#socket.end(frameOf(Opcode.close, Buffer.alloc(0)));
    // A peer that does not answer is not waited for.
    this.#socket.destroySoon();
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#onFrame(frame);
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  #onFrame({ isLast, opcode, payload }: Frame): void {
    if (opcode === Opcode.close) this.#socket.end();
    else if (opcode === Opcode.ping) this.#socket.write(frameOf(Opcode.pong, payload));
    else if (opcode === Opcode.text || opcode === Opcode.continuation) {
      this.#partBytes += payload.length;
      if (this.#partBytes > MAX_BYTES) throw new RangeError(`a message is more than the ${MAX_BYTES} bytes allowed`);
      this.#parts.push(payload);
      if (!isLast) return;
      const text = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#partBytes = 0;
      this.onMessage(text);
    }
  }
}
