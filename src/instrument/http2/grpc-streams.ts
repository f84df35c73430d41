// Which streams are calls of gRPC that have a span already.
import { isGrpcTraced } from '../grpc.js';

const isGrpc = (contentType: unknown): boolean =>
  typeof contentType === 'string' && contentType.startsWith('application/grpc');

/** By the content type of its headers. */
export const isOfGrpc = (contentType: unknown): boolean => isGrpc(contentType) && isGrpcTraced();

/**
 * Whether somebody else traces it, who has given it a context under one of `names`: what waits for a connection of gRPC is sent in the context of
 * another caller, whose span must not stand between.
 */
export const isOfOthersGrpc = (headers: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  isGrpc(headers['content-type']) && Object.keys(headers).some((key) => names.includes(key.toLowerCase()));
