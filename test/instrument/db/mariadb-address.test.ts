// Where a connection of mariadb goes, by its options or by the address in their place: nothing of its credentials.
import { expect, test } from 'vitest';
import { serverOf } from '../../../src/instrument/db/mariadb.js';

test.each([
  ['mariadb://localhost/shop', 'localhost', 3306],
  ['mariadb://root:secret@db.example:3307/shop?ssl=true', 'db.example', 3307],
  ['mariadb://root:12#3@db.example/shop', 'db.example', 3306],
  ['mariadb://root:12?3@4@db.example:3307/shop', 'db.example', 3307],
  ['mariadb://root:secret@[::1]:3307/shop', '::1', 3307],
])('%s', (address, serverAddress, serverPort) => {
  expect(serverOf(address)).toEqual({ serverAddress, serverPort, database: 'shop' });
});
