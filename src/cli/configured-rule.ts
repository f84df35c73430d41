// How a config file says that params are cleaned. One that says nothing must leave the store its own rule.
import { type CleaningRule, DEFAULT_RULE, type InstanceConfig } from '../tracedb/index.js';

/** The rule of a config file; undefined where the file does not say one. */
export const configuredRule = (config: InstanceConfig | undefined): CleaningRule | undefined =>
  config === undefined || config.rule === DEFAULT_RULE ? undefined : config.rule;
