/** What runs reflector and shards: worker threads, or the in-process twin. Both look like this. */
import type { FromReflector, FromShard, ToReflector, ToShard } from './protocol.ts';
import type { PipelineMemory } from './layout.ts';

export interface BackendEvents {
  fromReflector(message: FromReflector): void;
  fromShard(shard: number, message: FromShard): void;
  /** A thread died: nothing more will come through. */
  failed(error: Error, role: string): void;
}

export interface Backend {
  readonly memory: PipelineMemory;
  toReflector(message: ToReflector): void;
  toShard(shard: number, message: ToShard): void;
  /** Lets the process end although threads run. */
  unref(): void;
  /** Resolves when every thread has ended. */
  close(): Promise<void>;
}

/** The twin calls `onRing` when something may have to be done on the calling thread. */
export interface TwinHooks {
  /** Runs reflector and shard work; true when something was done. */
  turn(): boolean;
}
