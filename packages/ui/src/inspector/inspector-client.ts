// Asks another process things through its inspector. It has the protocol's envelope and nothing of profiles.
import { WebSocketClient } from './web-socket.js';

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

interface Evaluated {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class InspectorClient {
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #closed: Error | undefined;

  readonly #socket: WebSocketClient;

  private constructor(socket: WebSocketClient) {
    this.#socket = socket;
    socket.onMessage = (text) => this.#onMessage(text);
    socket.onClose = (error) => {
      this.#closed = error ?? new Error('the process closed the connection, or ended');
      for (const { reject } of this.#waiting.values()) reject(this.#closed);
      this.#waiting.clear();
    };
  }

  static async connect(address: string): Promise<InspectorClient> {
    return new InspectorClient(await WebSocketClient.connect(address));
  }

  /** The value of an expression there, waited for; it must be JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const answer = (await this.#post('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as Evaluated;
    const { exceptionDetails } = answer;
    if (exceptionDetails !== undefined) {
      throw new Error(exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text);
    }
    return answer.result.value;
  }

  close(): void {
    this.#socket.close();
  }

  #post(method: string, params: object): Promise<unknown> {
    // Nobody would answer.
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #onMessage(text: string): void {
    const { id, result, error } = JSON.parse(text) as Answer;
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error.message ?? 'the inspector refused'));
  }
}
