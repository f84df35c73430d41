// The LMDB engine gives the answers that the conformance suite promises.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { storeFolder } from '../support/store-folder.js';
import { conformance } from './conformance.js';

const folder = storeFolder('spanline-lmdb-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let stores = 0;
conformance({ name: 'lmdb', newLocation: () => join(folder, `store-${++stores}`) });
