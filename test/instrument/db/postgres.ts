// The PostgreSQL that tests talk to, or a line that says why they are skipped.
import { hasPostgres } from '../../../scripts/lib/postgres.mjs';

export { hasPostgres, type Postgres, startPostgres } from '../../../scripts/lib/postgres.mjs';

if (!hasPostgres) console.info('skipped: no PostgreSQL here (Debian package postgresql)');
