// The types of mariadb.mjs, for the tests.

export interface Mariadb {
  readonly port: number;
  run(text: string): void;
  stop(): Promise<void>;
}

export const hasMariadb: boolean;
export function startMariadb(): Promise<Mariadb>;
