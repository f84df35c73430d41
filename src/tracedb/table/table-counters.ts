// The counters behind a table's stats(). Only whole calls count: nothing is added before the store has answered.
import type { TableStats } from './wide-column-table.js';

/** Counts what a table did. */
export class TableCounters {
  #reads = 0;
  #rowsRead = 0;
  #bytesRead = 0;
  #writes = 0;
  #rowsWritten = 0;
  #bytesWritten = 0;
  #rowsRefused = 0;
  #openReads = 0;

  readOpened(): void {
    this.#reads++;
    this.#openReads++;
  }

  readClosed(): void {
    this.#openReads--;
  }

  didRead(rows: number, bytes: number): void {
    this.#rowsRead += rows;
    this.#bytesRead += bytes;
  }

  wrote(rows: number, bytes: number): void {
    this.#writes++;
    this.#rowsWritten += rows;
    this.#bytesWritten += bytes;
  }

  refused(rows: number): void {
    this.#rowsRefused += rows;
  }

  /** Run a check of `rows` rows; when it throws, they count as refused. */
  refusing<T>(rows: number, check: () => T): T {
    try {
      return check();
    } catch (error) {
      this.refused(rows);
      throw error;
    }
  }

  snapshot(): TableStats {
    const reads = this.#reads;
    const rowsRead = this.#rowsRead;
    const bytesRead = this.#bytesRead;
    const writes = this.#writes;
    const rowsWritten = this.#rowsWritten;
    const bytesWritten = this.#bytesWritten;
    const rowsRefused = this.#rowsRefused;
    const openReads = this.#openReads;
    return { reads, rowsRead, bytesRead, writes, rowsWritten, bytesWritten, rowsRefused, openReads };
  }
}
