/** What runs reflector and shards: worker threads, or the in-process twin. Both look like this. */
import type { KubeloomError } from '../errors.ts';
import type {
  FromReflector,
  FromShard,
  StatsAnswer,
  StatsRequest,
  ToReflector,
  ToShard,
} from './protocol.ts';

export interface BackendEvents {
  fromReflector(message: FromReflector | StatsAnswer): void;
  fromShard(shard: number, message: FromShard | StatsAnswer): void;
  /** A thread died: nothing more will come through. */
  failed(error: KubeloomError): void;
}

export interface Backend {
  toReflector(message: ToReflector | StatsRequest): void;
  toShard(shard: number, message: ToShard | StatsRequest): void;
  /** Lets the process end although threads run. */
  unref(): void;
  /** Resolves when every thread has ended. */
  close(): Promise<void>;
}
