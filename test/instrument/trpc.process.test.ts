// Procedures of the newest tRPC; the oldest is in trpc.full.test.ts.
import { describeTrpc } from './trpc-cases.js';

describeTrpc('@trpc/server');
