// The types of redis-server.mjs, for the tests.

export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

export function hasRedis(): boolean;
export function startRedis(more?: readonly string[]): Promise<RedisServer>;
