// Preloaded into every program of the suite, the empty one too: at its exit it prints to descriptor 3 what the process has taken, CPU of all
// threads in ms and most memory in MB. Must load nothing that Node has not loaded before.
const { readFileSync, writeSync } = require('node:fs');

/**
 * The kernel's own mark of this program. What `resourceUsage` calls maxRSS begins, on Linux, with that of the process that started it, which is
 * larger than an empty Node.
 */
const peakMb = () => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ cpu: (user + system) / 1000, memory: peakMb() }));
});
