/** Common interface of the two runners of reflector and shards: worker threads, or the calling thread. */
import type { Clock } from '../../base/clock.ts';
import type { OnRead } from '../../reflector/reflector-session.ts';
import type { FromReflectorThread, FromShard, ToReflectorThread, ToShard } from '../../shared/protocol.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import type { LoopTimers } from './main-loop.ts';

/** The reflector, or the shard with this number. */
export type Role = 'reflector' | number;

export function roleName(role: Role): string {
  return role === 'reflector' ? role : `shard ${role}`;
}

export interface BackendEvents {
  fromReflector(message: FromReflectorThread): void;
  fromShard(shard: number, message: FromShard): void;
  /** Reports that a thread threw or ended without a request; it is the last event of the thread. */
  readonly died: (role: Role, cause: unknown) => void;
  /** Reports a read of a socket on the calling thread (`OnRead`). */
  readonly read?: OnRead;
}

export interface Backend {
  toReflector(message: ToReflectorThread): void;
  toShard(shard: number, message: ToShard): void;
  /** Runs the roles of the calling thread for a bounded number of records; returns true if they did any work. */
  runOnce?(): boolean;
  /** Whether the roles run on threads that may stall. */
  readonly isThreaded: boolean;
  /** Requests a heartbeat from threads that do not send heartbeats by themselves. */
  askForHeartbeats(): void;
  /** Terminates all threads during any work; resolves when they can no longer touch shared memory. */
  end(): Promise<void>;
  /** Publishes the figures of roles on the calling thread now; other threads publish theirs themselves. */
  publishUsage(): void;
  unref(): void;
  /** Lets all threads close their sockets; resolves after every thread ended. */
  close(): Promise<void>;
}

/** A backend whose threads load their code before the first message. */
export interface StartingBackend extends Backend {
  /** Resolves when all threads have loaded their code. */
  readonly ready: Promise<void>;
}

/** Replacements for tests and simulators. */
export interface ThreadsParts {
  readonly backend?: (memory: PipelineMemory, events: BackendEvents, wake: () => void) => Backend;
  readonly workers?: (memory: PipelineMemory, events: BackendEvents, wake: () => void) => StartingBackend;
  readonly memory?: PipelineMemory;
  /** Cores given to the process. */
  readonly cores?: number;
  readonly clock?: Clock;
  readonly timers?: LoopTimers;
  /** Total bytes of an informer's objects below which they are not packed. */
  readonly packBytesMin?: number;
  /** Length of a slab. */
  readonly slabBytes?: number;
}
