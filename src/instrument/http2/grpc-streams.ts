// Which streams are calls of gRPC that have a span already.
import { isGrpcTraced } from '../grpc.js';

/** By the content type of its headers. */
export const isOfGrpc = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/grpc') && isGrpcTraced();
