/** Replacements for tests and simulators: backend, memory, clock and timers. */
import type { Clock } from '../../base/clock.ts';
import type { Backend, BackendEvents } from './backend.ts';
import type { PipelineMemory } from '../../shared/layout.ts';
import type { LoopTimers } from './main-loop.ts';

export interface ThreadsParts {
  readonly backend?: (memory: PipelineMemory, events: BackendEvents, kick: () => void) => Backend;
  readonly memory?: PipelineMemory;
  readonly clock?: Clock;
  /** Timers of the main thread's loop. */
  readonly timers?: LoopTimers;
  /** Total bytes of an informer's objects below which they are not packed. */
  readonly packBytesMin?: number;
}
