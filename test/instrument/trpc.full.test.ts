// Procedures of the newest tRPC and of tRPC 10.
import { describeTrpc } from './trpc-cases.js';

for (const name of ['@trpc/server', 'trpc-10']) describeTrpc(name);
