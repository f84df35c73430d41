// The applications, each in a form that the suite takes. What they are asked must be answered alike by every run.
import { OWN } from './own.mjs';
import { READY_MADE } from './ready-made.mjs';

/**
 * @typedef {[path: string, init?: object]} Request
 *
 * @typedef {object} Application
 * @property {string} name
 * @property {string} of what it is made of
 * @property {string} program
 * @property {string} [folder] where its package.json is, if not here
 * @property {boolean} [isModule] ES modules, for which the official packages need a loader
 * @property {('postgres' | 'mariadb' | 'redis' | 'mongodb')[]} [needs]
 * @property {(place: object) => void} [prepare] before its first start: `folder` (empty, its own), `port`, `database`, and of what it needs
 * @property {(place: object) => string[]} [args]
 * @property {(place: object) => Record<string, string>} [env]
 * @property {RegExp} [mask] what its answers may have that is another each time, which is left out
 * @property {string} [ready] what it answers once it serves, where it listens before
 * @property {(port: number) => Promise<Record<string, string>>} [signIn] headers of every request
 * @property {Request[]} [requests] asked for one after another
 * @property {Request[]} [load] asked for many at once: they change nothing that another would see
 * @property {(place: object) => { requests: Request[], load: Request[] }} [asked] both, where they name what it talks to
 */

/** @type {Application[]} */
export const APPLICATIONS = [...READY_MADE, ...OWN];
