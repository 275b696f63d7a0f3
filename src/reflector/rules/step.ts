/**
 * The rules of list-and-watch: a pure function from a state and an event to the next state and the
 * effects. They are client-go's rules, improved where client-go is weak (no silent errors, a deadline for
 * the end bookmark, fresh credentials after a refusal). The rules of lists and watches are in `step-*.ts`.
 */
import { DeltaKind } from '../../shared/record/delta.ts';
import type { Memory, ReflectorEvent, State, Step } from './state.ts';
import { stepListing, stepStreamingList } from './step-list.ts';
import { stepWatching } from './step-watching.ts';
import { control, stay, sync, watch } from './transitions.ts';

type BackingOff = Extract<State, { kind: 'backing-off' }>;

/** @param now milliseconds, monotonic */
export function step(state: State, event: ReflectorEvent, now: number): Step {
  if (state.kind === 'stopped') return stay(state);
  if (event.type === 'stop') return stop(state.memory);
  switch (state.kind) {
    case 'idle':
      return event.type === 'start' ? sync(state.memory) : stay(state);
    case 'streaming-list':
      return stepStreamingList(state, event, now);
    case 'listing':
      return stepListing(state, event, now);
    case 'watching':
      return stepWatching(state, event, now);
    default:
      return stepBackingOff(state, event);
  }
}

function stepBackingOff(state: BackingOff, event: ReflectorEvent): Step {
  if (event.type !== 'timer') return stay(state);
  return state.next === 'watch' ? watch(state.memory) : sync(state.memory);
}

function stop(memory: Memory): Step {
  const detach = control(DeltaKind.Detach, memory);
  return {
    state: { kind: 'stopped' },
    effects: [{ type: 'close' }, detach, { type: 'phase', phase: 'stopped' }, { type: 'stopped' }],
  };
}
