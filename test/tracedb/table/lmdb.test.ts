// The LMDB engine gives the answers that the conformance suite promises.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { conformance } from './conformance.js';

const folder = mkdtempSync(join(tmpdir(), 'spanline-lmdb-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let stores = 0;
conformance({ name: 'lmdb', newLocation: () => join(folder, `store-${++stores}`) });
