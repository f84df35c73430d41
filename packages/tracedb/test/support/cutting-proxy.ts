// A TCP proxy that passes everything on until it is told otherwise: then it cuts or stalls connections after so many bytes of
// answers, as a network does.
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to connections. */
export interface Fault {
  /** Bytes of answers that still pass, counted from now, over all connections. */
  readonly afterBytes: number;
  /** `cut`: connections are reset; `stall`: nothing passes any more, and nothing is said. */
  readonly kind: 'cut' | 'stall';
  /** `pass`: new connections are as good as ever; `refuse`: they are reset at once; `again`: the same happens to them. */
  readonly afterwards: 'pass' | 'refuse' | 'again';
}

export class CuttingProxy {
  /** Faults that happened. */
  faults = 0;
  /** Bytes of answers that passed. */
  bytes = 0;
  private planned: Fault | undefined;
  private onFault: (() => void) | undefined;
  private passed = 0;
  private refuses = false;
  private stalls = false;
  private readonly pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.accept(client));
  }

  /** A proxy on a free loopback port, before `target` (`address:port`). */
  static async before(target: string): Promise<CuttingProxy> {
    const [host = '', port] = target.split(':');
    const server = createServer();
    const proxy = new CuttingProxy(server, { host, port: Number(port) });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get host(): string {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? `127.0.0.1:${address.port}` : '';
  }

  /** Let a fault happen. */
  expect(fault: Fault): void {
    this.planned = fault;
    this.passed = 0;
  }

  /** When the next fault has happened. */
  fault(): Promise<void> {
    return new Promise((resolve) => {
      this.onFault = resolve;
      if (this.planned === undefined) resolve();
    });
  }

  /** Pass everything on again, on new connections. */
  heal(): void {
    this.planned = undefined;
    this.refuses = false;
    this.stalls = false;
    this.cut();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    client.on('error', () => {});
    if (this.refuses) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.target);
    const pair = [client, server] as const;
    this.pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      from.on('error', () => {});
      from.on('close', () => {
        this.pairs.delete(pair);
        to.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (!this.stalls) server.write(bytes);
    });
    server.on('data', (bytes) => this.answer(client, bytes));
  }

  private answer(client: Socket, bytes: Buffer): void {
    if (this.stalls) return;
    const { planned: fault } = this;
    this.bytes += bytes.length;
    if (fault === undefined) {
      client.write(bytes);
      return;
    }
    const left = fault.afterBytes - this.passed;
    this.passed += bytes.length;
    if (bytes.length <= left) {
      client.write(bytes);
      return;
    }
    this.faults++;
    this.passed = 0;
    if (fault.afterwards !== 'again') this.planned = undefined;
    if (fault.kind === 'stall') this.stalls = true;
    this.refuses = fault.afterwards === 'refuse';
    this.onFault?.();
    // What passes is seen before the reset.
    client.write(bytes.subarray(0, Math.max(0, left)), () => {
      if (fault.kind === 'cut') this.cut();
    });
  }

  private cut(): void {
    for (const pair of [...this.pairs]) {
      for (const socket of pair) socket.destroy();
      this.pairs.delete(pair);
    }
  }
}
