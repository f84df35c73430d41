// The types of ferretdb.mjs, for the tests.

export interface Ferretdb {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export const HOW_TO_GET: string;
export function findFerretdb(): string | undefined;
export function startFerretdb(program: string): Promise<Ferretdb>;
