// Opens a table on Bigtable or its emulator. What was opened must be closed again when a later step fails.
import { checkFamilyNames } from '../limits.js';
import type { TableSchema, WideColumnTable } from '../wide-column-table.js';
import { BigtableTable } from './bigtable-table.js';
import { connect } from './client.js';
import { parseBigtableLocation } from './location.js';
import { ensureTable } from './schema.js';

/** Open the table `bigtable://project/instance/table`, making it and its families when they are missing and may be made. */
export const openBigtableTable = async (text: string, schema: TableSchema): Promise<WideColumnTable> => {
  const location = parseBigtableLocation(text);
  checkFamilyNames(schema.families);
  const { data, admin } = await connect(location);
  try {
    const families = await ensureTable(admin, location, [...new Set(schema.families)], schema.make ?? true);
    return new BigtableTable(location, data, families);
  } catch (error) {
    await data.close();
    throw error;
  } finally {
    await admin.close();
  }
};
