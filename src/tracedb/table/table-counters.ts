// The counters behind a table's stats(). Only whole calls count: nothing is added before the store has answered.
import type { TableStats } from './wide-column-table.js';

/** Counts what a table did. */
export class TableCounters {
  private reads = 0;
  private rowsRead = 0;
  private bytesRead = 0;
  private writes = 0;
  private rowsWritten = 0;
  private bytesWritten = 0;
  private rowsRefused = 0;
  private openReads = 0;

  readOpened(): void {
    this.reads++;
    this.openReads++;
  }

  readClosed(): void {
    this.openReads--;
  }

  didRead(rows: number, bytes: number): void {
    this.rowsRead += rows;
    this.bytesRead += bytes;
  }

  wrote(rows: number, bytes: number): void {
    this.writes++;
    this.rowsWritten += rows;
    this.bytesWritten += bytes;
  }

  refused(rows: number): void {
    this.rowsRefused += rows;
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
    const { reads, rowsRead, bytesRead, writes, rowsWritten, bytesWritten, rowsRefused, openReads } = this;
    return { reads, rowsRead, bytesRead, writes, rowsWritten, bytesWritten, rowsRefused, openReads };
  }
}
