// The suite that both engines pass with identical answers. A test for one engine alone does not belong here.
import { describe } from 'vitest';
import { conditions } from './conformance/conditions.js';
import { filters } from './conformance/filters.js';
import { lifecycle } from './conformance/lifecycle.js';
import { limits } from './conformance/limits.js';
import { model } from './conformance/model.js';
import { order } from './conformance/order.js';
import { streaming } from './conformance/streaming.js';
import { type Engine, tablesOf } from './conformance/suite.js';
import { writes } from './conformance/writes.js';

const PARTS = [order, filters, writes, conditions, streaming, limits, lifecycle, model];

/** All that is promised of a wide-column table, tested on `engine`. */
export const conformance = (engine: Engine): void => {
  describe(`a wide-column table on ${engine.name}`, () => {
    const tables = tablesOf(engine);
    for (const part of PARTS) part(tables);
  });
};
