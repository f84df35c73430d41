// What a process can say of itself, by OpenTelemetry's names, for `configure({ resourceAttributes })`. Whatever cannot be found is left
// out: nothing here may throw or wait.

import { readFileSync } from 'node:fs';
import { arch, hostname, platform, release, userInfo } from 'node:os';
import { attempt } from '../base/calls/attempt.js';
import type { Properties, PropertyValue } from '../rows/property.js';

const OS: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' };
const ARCH: Readonly<Record<string, string>> = { x64: 'amd64', ia32: 'x86', arm: 'arm32', ppc: 'ppc32' };

const CONTAINER = /([0-9a-f]{64})(?:\.scope)?$/;
const MOUNTED = /\/containers\/([0-9a-f]{64})\//;

/** The id in a `/proc/self/cgroup` of version 1, or in a `/proc/self/mountinfo`. */
export const containerIdIn = (cgroup: string, mountInfo: string): string | undefined => {
  for (const line of cgroup.split('\n')) {
    const match = CONTAINER.exec(line.trim());
    if (match !== null) return match[1];
  }
  return MOUNTED.exec(mountInfo)?.[1];
};

const containerId = (): string | undefined => {
  const read = (name: string): string => attempt(() => readFileSync(`/proc/self/${name}`, 'utf8')) ?? '';
  return platform() === 'linux' ? containerIdIn(read('cgroup'), read('mountinfo')) : undefined;
};

/** Drawn once a process: two that run on one host are two. */
let instanceId: string | undefined;

/**
 * Attributes of host, operating system, process and container, and an id of this instance. Those of OTEL_RESOURCE_ATTRIBUTES and
 * OTEL_SERVICE_NAME are read by the collector itself and win over these. Arguments of the command line are left out: they may hold secrets.
 *
 * @example
 * ```ts
 * import { configure } from 'spanline';
 * import { detectResource } from 'spanline/otel';
 *
 * configure({ resourceAttributes: detectResource() });
 * ```
 */
export const detectResource = (): Properties => {
  instanceId ??= process.getBuiltinModule('node:crypto').randomUUID();
  const found: Readonly<Record<string, PropertyValue | undefined>> = {
    'host.name': attempt(hostname),
    'host.arch': ARCH[arch()] ?? arch(),
    'os.type': OS[platform()] ?? platform(),
    'os.version': attempt(release),
    'process.pid': process.pid,
    'process.executable.name': process.title,
    'process.executable.path': process.execPath,
    'process.command': process.argv[1],
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    'process.runtime.description': 'Node.js',
    'process.owner': attempt(() => userInfo().username),
    'service.instance.id': instanceId,
    'container.id': containerId(),
  };
  const named = new Set(
    (process.env.OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').map((pair) => pair.slice(0, pair.indexOf('=')).trim()),
  );
  return Object.fromEntries(Object.entries(found).filter(([key, value]) => value !== undefined && !named.has(key)));
};
