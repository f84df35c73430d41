// The rows of the Bigtable cases, those of traces with one value, and the cases: microseconds of CPU that the client's process spends on
// a row. The emulator is a process of its own and does not count.
import { createHash } from 'node:crypto';
import { findEmulator, startEmulator } from '../../scripts/lib/bigtable-emulator.mjs';
import { pointValue, SOURCE, TIME_MS } from './shape.mjs';
import { cpuSeconds } from './support.mjs';

export const PROJECT = 'bench';
export const INSTANCE = 'bench';
/** Rows of a bulk call. */
const CALL_ROWS = 1000;
const CALLS = 10;
const SCANNED = 'scan';

const digest = createHash('md5').update(SOURCE).digest();

const valueBytes = (i) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(pointValue(i));
  return bytes;
};

/** Rows whose keys begin with `prefix`, in calls; each has a value and the digest of its source. */
const callsOf = (prefix) =>
  Array.from({ length: CALLS }, (_, call) =>
    Array.from({ length: CALL_ROWS }, (_, i) => {
      const row = call * CALL_ROWS + i;
      return {
        key: `${prefix}:2147483647:,0=1,1=${row % 50},2=0,3=${row % 10},4=7,5=2,6=${row},7=3,`,
        value: valueBytes(row),
        digest,
        timestampMs: TIME_MS,
      };
    }),
  );

/**
 * The cases of a client. `write` is given the rows of one call as `form` makes them; `scan` counts the rows and bytes of a prefix.
 * @param {() => Promise<{ form: (row: object) => unknown, write: (rows: unknown[]) => Promise<unknown>, scan: (prefix: string) => Promise<{ rows: number, bytes: number }> }>} open
 */
export const bigtableCases = (open) => {
  let opened;
  const client = () => {
    opened ??= (async () => {
      process.env.BIGTABLE_EMULATOR_HOST = (await startEmulator(findEmulator())).host;
      return open();
    })();
    return opened;
  };
  const microsOf = async (body) => {
    const before = cpuSeconds();
    await body();
    return ((cpuSeconds() - before) * 1e6) / (CALLS * CALL_ROWS);
  };
  let rounds = 0;
  const writeAll = async (prefix) => {
    const { form, write } = await client();
    const calls = callsOf(prefix).map((rows) => rows.map(form));
    return microsOf(async () => {
      for (const rows of calls) await write(rows);
    });
  };
  const scanAll = async () => {
    const { scan } = await client();
    return microsOf(async () => {
      const { rows, bytes } = await scan(SCANNED);
      const expected = { rows: CALLS * CALL_ROWS, bytes: CALLS * CALL_ROWS * 20 };
      if (rows !== expected.rows || bytes !== expected.bytes) throw new Error(`scanned ${rows} rows of ${bytes} bytes`);
    });
  };
  const testOf = (name, note, prepare, round) => {
    let isWarm = false;
    return {
      name,
      n: CALLS * CALL_ROWS,
      unit: 'us',
      note,
      opsPerRun: 1,
      measure: async ({ warmUpMs }) => {
        if (!isWarm) await prepare();
        for (const end = performance.now() + warmUpMs; !isWarm; isWarm = performance.now() > end) await round();
        return { caller: [await round()], total: null };
      },
    };
  };
  return [
    testOf('bigtable-write-cpu', `${CALL_ROWS} rows of 2 cells a call, to the emulator`, client, () =>
      writeAll(String(rounds++)),
    ),
    testOf('bigtable-scan-cpu', 'rows of 2 cells by prefix, from the emulator', () => writeAll(SCANNED), scanAll),
  ];
};
