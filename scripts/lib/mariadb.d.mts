// The types of mariadb.mjs, for the tests.

export interface Mariadb {
  readonly port: number;
  stop(): Promise<void>;
}

export const hasMariadb: boolean;
export function startMariadb(): Promise<Mariadb>;
