// The types of postgres.mjs, for the tests.

export interface Postgres {
  readonly host: string;
  readonly port: number;
  run(text: string, database?: string): void;
  stop(): Promise<void>;
}

export const hasPostgres: boolean;
export function startPostgres(options?: { readonly listens?: boolean }): Promise<Postgres>;
