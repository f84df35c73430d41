// Starts the emulator its argument names, says where it listens, and waits to be killed.
import { startEmulator } from '../../../../../../scripts/lib/bigtable-emulator.mjs';

const emulator = await startEmulator(process.argv[2] ?? '');
console.log(`${emulator.host} ready`);
setInterval(() => {}, 1000);
