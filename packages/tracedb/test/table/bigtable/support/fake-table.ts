// Tables on a fake service, closed after each test.
import { setImmediate as turn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openBigtableTable } from '../../../../src/table/bigtable/bigtable-table.js';
import type { WideColumnTable } from '../../../../src/table/wide-column-table.js';
import { FakeService, type Handler } from './fake-service.js';

const restore = (before: string | undefined): void => {
  if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
  else process.env.BIGTABLE_EMULATOR_HOST = before;
};

/** A table with the families V and S on a service with these methods. */
export const fakeTable = async (
  handlers: Record<string, Handler>,
): Promise<{ table: WideColumnTable; service: FakeService }> => {
  const service = await FakeService.start(handlers);
  const before = process.env.BIGTABLE_EMULATOR_HOST;
  process.env.BIGTABLE_EMULATOR_HOST = service.host;
  const table = await openBigtableTable('bigtable://test-project/test-instance/fake', { families: ['V', 'S'] });
  onTestFinished(async () => {
    await table.close();
    await service.stop();
    restore(before);
  });
  return { table, service };
};

/** Wait until `condition` holds; the test's time limit is the bound. */
export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await turn();
};
