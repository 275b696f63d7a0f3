/** The phases of an informer's relists in a shard, as a pure step. The effects on ids are in `key-states.ts`. */
import { assert } from '../base/errors.ts';

export type Phase =
  | { readonly phase: 'steady' }
  | { readonly phase: 'listing'; readonly epoch: number }
  /** After ReplaceEnd: sweeps the ids that were not listed. */
  | { readonly phase: 'sweeping' }
  /** After ReplaceAbort, or before a newer epoch that aborts the open epoch: undoes the marks of that epoch. */
  | { readonly phase: 'undoing'; readonly newerEpoch: number | undefined };

export type PhaseEvent =
  | { readonly type: 'begin' | 'end' | 'abort'; readonly epoch: number }
  | { readonly type: 'passed' };

export const STEADY: Phase = { phase: 'steady' };

/**
 * Returns the next phase. End and Abort without an open epoch do not change the phase: a new reflector may abort
 * unknown epochs.
 */
export function step(state: Phase, event: PhaseEvent): Phase {
  switch (state.phase) {
    case 'steady':
      return event.type === 'begin' ? { phase: 'listing', epoch: event.epoch } : state;
    case 'listing':
      if (event.type === 'begin') return { phase: 'undoing', newerEpoch: event.epoch };
      if (event.type === 'passed') return state;
      assert(event.epoch === state.epoch, `${event.type} of epoch ${event.epoch} in epoch ${state.epoch}`);
      return event.type === 'end' ? { phase: 'sweeping' } : { phase: 'undoing', newerEpoch: undefined };
    case 'sweeping':
      assert(event.type === 'passed', `${event.type} during a sweep`);
      return STEADY;
    case 'undoing':
      assert(event.type === 'passed', `${event.type} while an epoch is undone`);
      break;
  }
  return state.newerEpoch === undefined ? STEADY : { phase: 'listing', epoch: state.newerEpoch };
}
