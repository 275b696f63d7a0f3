/** What runs reflector and shards: worker threads, or the in-process twin. Both look like this. */
import type {
  FromReflectorThread,
  FromShard,
  StatsAnswer,
  StatsRequest,
  ToReflectorThread,
  ToShard,
} from './protocol.ts';

/** The reflector, or the shard with this number. */
export type Role = 'reflector' | number;

export function roleName(role: Role): string {
  return role === 'reflector' ? role : `shard ${role}`;
}

export interface BackendEvents {
  fromReflector(message: FromReflectorThread | StatsAnswer): void;
  fromShard(shard: number, message: FromShard | StatsAnswer): void;
  /** A thread threw or ended without being told to: nothing more will come from it. */
  died(role: Role, cause: unknown): void;
}

export interface Backend {
  toReflector(message: ToReflectorThread | StatsRequest): void;
  toShard(shard: number, message: ToShard | StatsRequest): void;
  /** A number that changes while the thread works, or undefined when it cannot stop without this thread. */
  heartbeat(role: Role): number | undefined;
  /** Ends the thread at whatever it does; resolves when nothing of it can touch shared memory any more. */
  end(role: Role): Promise<void>;
  /** Starts a successor of a thread that has ended. */
  succeed(role: Role): void;
  /** Lets the process end although threads run. */
  unref(): void;
  /** Resolves when every thread has ended. */
  close(): Promise<void>;
}

export type StartBackend = (events: BackendEvents) => Backend;
