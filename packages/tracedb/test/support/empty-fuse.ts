// A FUSE file system with nothing in it but its root, served by this process: enough to ask what it is. Needs root.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, read, writeSync } from 'node:fs';

// Requests of the kernel's FUSE protocol that get an answer; all others are "no such call".
const INIT = 26;
const GETATTR = 3;
const STATFS = 17;
const FORGET = 2;
const ENOSYS = -38;
const DIRECTORY = 0o40755;

const answerTo = (opcode: number, request: Buffer): Buffer | undefined => {
  if (opcode === INIT) {
    const answer = Buffer.alloc(64);
    // Version 7.31, and the read-ahead the kernel offers.
    answer.writeUInt32LE(7, 0);
    answer.writeUInt32LE(31, 4);
    answer.writeUInt32LE(request.readUInt32LE(48), 8);
    answer.writeUInt32LE(4096, 20);
    return answer;
  }
  if (opcode === GETATTR) {
    const answer = Buffer.alloc(16 + 88);
    answer.writeBigUInt64LE(1n, 16);
    answer.writeUInt32LE(DIRECTORY, 16 + 60);
    answer.writeUInt32LE(2, 16 + 64);
    return answer;
  }
  return opcode === STATFS ? Buffer.alloc(80) : undefined;
};

/** Mount it on `directory`; the result takes it away. Throws where that is not possible. */
export const mountEmptyFuse = (directory: string): (() => void) => {
  const device = openSync('/dev/fuse', 'r+');
  try {
    const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
    execFileSync('mount', ['-i', '-t', 'fuse', '-o', options, 'nothing', directory], {
      stdio: ['ignore', 'ignore', 'pipe', device],
    });
  } catch (error) {
    closeSync(device);
    throw error;
  }
  const buffer = Buffer.alloc(1 << 17);
  const serve = (): void =>
    read(device, buffer, 0, buffer.length, null, (error, length) => {
      // It was taken away.
      if (error !== null) {
        closeSync(device);
        return;
      }
      const opcode = buffer.readUInt32LE(4);
      if (opcode !== FORGET) {
        const answer = answerTo(opcode, buffer.subarray(0, length));
        const header = Buffer.alloc(16);
        header.writeUInt32LE(16 + (answer?.length ?? 0), 0);
        header.writeInt32LE(answer === undefined ? ENOSYS : 0, 4);
        buffer.copy(header, 8, 8, 16);
        writeSync(device, answer === undefined ? header : Buffer.concat([header, answer]));
      }
      serve();
    });
  serve();
  return () => {
    execFileSync('umount', ['-l', directory]);
  };
};
