// The MariaDB that tests talk to, or a line that says why they are skipped.
import { hasMariadb } from '../../../scripts/lib/mariadb.mjs';

export { hasMariadb, type Mariadb, startMariadb } from '../../../scripts/lib/mariadb.mjs';

if (!hasMariadb) console.info('skipped: no MariaDB here (Debian package mariadb-server)');
