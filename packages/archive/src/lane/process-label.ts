// What people read for a process. Must not be used to tell processes apart: two may have the same.

/** The service, and its process where that is known: `shop 4711`. `process` is as `processOf` names it. */
export const processLabel = (process: string): string => {
  const { 'service.name': service = '', 'process.pid': pid = '' } = JSON.parse(process) as Record<string, string>;
  return [service, pid].filter((text) => text !== '').join(' ');
};
