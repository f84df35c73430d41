// The suite that both engines pass with identical answers. A test for one engine alone does not belong here.
import { describe } from 'vitest';
import { conditions } from './conformance/conditions.js';
import { filters } from './conformance/filters.js';
import { lifecycle } from './conformance/lifecycle.js';
import { limits } from './conformance/limits.js';
import { model } from './conformance/model.js';
import { order } from './conformance/order.js';
import { streaming } from './conformance/streaming.js';
import { type Engine, type Tables, tablesOf } from './conformance/suite.js';
import { writes } from './conformance/writes.js';

const PARTS = [order, filters, writes, conditions, streaming, limits, lifecycle, model];

/** What is promised of a wide-column table, tested on `engine`: all of it, or some parts. */
export const conformance = (engine: Engine, parts: readonly ((tables: Tables) => void)[] = PARTS): void => {
  describe(`a wide-column table on ${engine.name}`, () => {
    const tables = tablesOf(engine);
    for (const part of parts) part(tables);
  });
};
