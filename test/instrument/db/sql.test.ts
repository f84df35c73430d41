// Values never stay in a query's text, however they are quoted.

import { expect, test } from 'vitest';
import { sqlOperation } from '../../../src/instrument/db/database.js';
import { summaryOf, withoutValues } from '../../../src/instrument/db/sql.js';

test.each([
  ["SELECT * FROM t WHERE a = 'x' AND b = 5", 'SELECT * FROM t WHERE a = ? AND b = ?'],
  ["SELECT 'it''s', E'it\\'s x', U&'d', x'ff'", 'SELECT ?, ?, ?, ?'],
  ['SELECT $$a $b$ c$$, $tag$ $$ x $tag$', 'SELECT ?, ?'],
  ['SELECT a FROM "Table 1" WHERE a = $1', 'SELECT a FROM "Table 1" WHERE a = $1'],
  ['SELECT 1 -- hidden\n+ 2 /* hidden */', 'SELECT ? + ?'],
  ["SELECT t1.c2, 1.5e-3, .5, 0xff, 'open", 'SELECT t1.c2, ?, ?, ?, ?'],
  ['SELECT a IN (1, 2, 3) FROM t', 'SELECT a IN (?) FROM t'],
  ['SELECT a FROM t WHERE b = "open', 'SELECT a FROM t WHERE b = ?'],
  ['SELECT $$open', 'SELECT ?'],
  ['SELECT 1_234_567, 0b1010, 0o17, 0x1F_FF, 1_0.5_5e-1_0', 'SELECT ?, ?, ?, ?, ?'],
  ['SELECT $\u00e9$a secret$\u00e9$, 1', 'SELECT ?, ?'],
  // Where databases differ about the end of a comment, the rest goes.
  ["SELECT 1 /* a /* b */ don't */, 'secret'", 'SELECT ?'],
  ["SELECT 1 -- a\r, 'two\nlines'", 'SELECT ?'],
  ["SELECT 1 -- a\r\n, 'x' /**/ /*/ b */ + 2", 'SELECT ? , ? + ?'],
  // A setting of PostgreSQL decides whether a backslash goes with the quote behind it.
  ["SELECT 'it\\'s secret', 'x'", 'SELECT ?'],
  ["SELECT 'a\\'b' , 'c\\'d'", 'SELECT ?'],
  ["SELECT 'a\\b', 'c'", 'SELECT ?, ?'],
])('%s', (text, clean) => expect(withoutValues(text)).toBe(clean));

test.each([
  ["SELECT \"x\", 'it\\'s y', `a``b` FROM t", 'SELECT ?, ?, `a``b` FROM t'],
  ["INSERT INTO t VALUES (1, 'x') # hidden", 'INSERT INTO t VALUES (?, ?)'],
  ['SELECT "open', 'SELECT ?'],
  // Two signs are a comment only before a space.
  ["SELECT 1--'two\nlines', 2 -- hidden\n, 3 --", 'SELECT ?--?, ? , ?'],
  ["SELECT 'it\\'s', 1 FROM t", 'SELECT ?, ? FROM t'],
  // With NO_BACKSLASH_ESCAPES it does not go with the quote, and a string stays open by the usual reading.
  ["SELECT a FROM t WHERE a = 'C:\\' AND b = 'secret' AND c = 1", 'SELECT a FROM t WHERE a = ?'],
  ["SELECT a FROM t WHERE a = 'C:\\' AND b = 'D:\\'", 'SELECT a FROM t WHERE a = ?'],
])('MySQL: %s', (text, clean) => expect(withoutValues(text, 'mysql')).toBe(clean));

test.each([
  ["SELECT * FROM `it's` WHERE a = 'secret' AND b = 'z'", "SELECT * FROM `it's` WHERE a = ? AND b = ?"],
  ["SELECT [user's name] FROM \"t's\" WHERE b = x'ff' -- it's", `SELECT [user's name] FROM "t's" WHERE b = ?`],
  ["SELECT 'a\\', 'it''s', 1", 'SELECT ?, ?, ?'],
  ["SELECT [open, 'x'", 'SELECT ?'],
])('SQLite: %s', (text, clean) => expect(withoutValues(text, 'sqlite')).toBe(clean));

test('a literal that the cut goes through is no more readable', () => {
  const text = `SELECT '${'x'.repeat(9000)}'`;
  expect(withoutValues(text)).toBe('SELECT ?');
  // Also where it ends with a backslash.
  expect(withoutValues("SELECT E'secret\\")).toBe('SELECT ?');
  for (const quote of [`'`, '"']) expect(withoutValues(`SELECT ${quote}secret\\`, 'mysql')).toBe('SELECT ?');
});

test.each([
  ['select a from "t" where 1', 'SELECT t'],
  ['INSERT INTO s.t VALUES (?)', 'INSERT s.t'],
  ['UPDATE t SET a = ?', 'UPDATE t'],
  ['CREATE TABLE IF NOT EXISTS t (a int)', 'CREATE t'],
  ['BEGIN', 'BEGIN'],
  ['SELECT extract(epoch from created_at) FROM orders', 'SELECT orders'],
  ['SELECT trim(both from lower(name)), substring(a from ?) FROM [t]', 'SELECT t'],
  ['SELECT a IS NOT DISTINCT FROM b', 'SELECT'],
  ['SELECT now()', 'SELECT'],
  ['', ''],
])('summary of %s', (text, summary) => expect(summaryOf(text).summary).toBe(summary));

test('what was made of a text is kept, for each dialect apart', () => {
  const text = 'SELECT "name" FROM users';
  const first = sqlOperation(text);
  expect(sqlOperation(text, 'mysql').text).toBe('SELECT ? FROM users');
  expect(sqlOperation(text)).toBe(first);
  expect(first.text).toBe(text);
});
