// Procedures of tRPC 10.
import { describeTrpc } from './trpc-cases.js';

describeTrpc('trpc-10');
