// Asks once by a function of the default export, and once by one that is imported by its name.
import mariadb, { createConnection } from 'mariadb';

const access = { host: '127.0.0.1', port: Number(process.env.MARIADB_PORT), user: 'root' };
const pool = mariadb.createPool({ ...access, connectionLimit: 1 });
await pool.query('DO 1');
await pool.end();
const connection = await createConnection(access);
await connection.query('DO 2');
await connection.end();
