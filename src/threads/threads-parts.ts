/** For tests and simulators: what runs reflector and shards, in which memory, and whose time it is. */
import type { Clock } from '../clock.ts';
import type { Backend, BackendEvents } from './backend.ts';
import type { PipelineMemory } from './layout.ts';
import type { LoopTimers } from './main-loop.ts';

export interface ThreadsParts {
  readonly backend?: (memory: PipelineMemory, events: BackendEvents, kick: () => void) => Backend;
  readonly memory?: PipelineMemory;
  readonly clock?: Clock;
  /** When the main thread has its turn. */
  readonly timers?: LoopTimers;
  /** Informers whose objects have less than this in total are not packed. */
  readonly packBytesMin?: number;
}
