/** Wrong rules of a group, each a wrapper of the right ones, which the simulator must find. */
import type { ElectionState } from '../../../src/controller/leader-election/election-state.ts';
import { step } from '../../../src/controller/leader-election/election-step.ts';
import type { Peer } from '../../../src/partitions/member-state.ts';
import { memberStep } from '../../../src/partitions/member-step.ts';
import type { Mutant } from './life.ts';

/** Changes the deadline of each new renewal. */
function withDeadline(untilMs: (untilMs: number, nowMs: number, deadlineMs: number) => number): typeof step {
  return (before, event, moment, rules) => {
    const { state, effects } = step(before, event, moment, rules);
    if (!isRenewed(state, before)) return { state, effects };
    return {
      state: { ...state, untilMs: untilMs(state.untilMs, moment.nowMs, rules.renewDeadlineMs) },
      effects,
    };
  };
}

function isRenewed(
  after: ElectionState,
  before: ElectionState,
): after is ElectionState & { kind: 'leading' } {
  const isNew = before.kind === 'candidate' || (before.kind === 'leading' && before.pace.kind === 'calling');
  return after.kind === 'leading' && after.pace.kind === 'waiting' && isNew && !after.failure;
}

/** Changes what is known of the others after each step. */
function withPeers(change: (peer: Peer, nowMs: number) => Peer): typeof memberStep {
  return (before, event, moment, rules) => {
    const { state, effects } = memberStep(before, event, moment, rules);
    const peers = new Map(Array.from(state.peers, ([id, peer]) => [id, change(peer, moment.nowMs)]));
    return { state: { ...state, peers }, effects };
  };
}

/** Breaks no promise of a storm: joins in calm weather show it. */
export const WITHOUT_OVERDUE: Mutant = {
  title: 'a heartbeat that was never seen renewed counts as renewed',
  step: withPeers((peer) => ({ ...peer, renewal: 'seen' })),
};

/** Breaks no promise while other members have ticks due: a member alone shows it. */
export const LATE_IS_LOST: Mutant = {
  title: 'what is due when an event comes is taken for done',
  step: (before, event, moment, rules) => {
    const { state, effects } = memberStep(before, event, moment, rules);
    return { state: { ...state, decidedMs: moment.nowMs }, effects };
  },
};

/** Breaks no promise of a storm: only a count of what the server sends to whom shows it. */
export const MUTANTS_OF_A_DIVISION: readonly Mutant[] = [
  {
    title: 'a member says for ever that it cannot take partitions',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      const { life } = state;
      if (life.kind !== 'alive' || !life.id.startsWith('m1.') || state.partitions[1]?.cannotTake)
        return { state, effects };
      const cannotTake = { since: '2026', untilMs: Infinity };
      const partitions = state.partitions.map((partition) => ({ ...partition, cannotTake }));
      return { state: { ...state, partitions, owners: undefined }, effects };
    },
  },
  {
    title: 'a work is not told that its partition is lost',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      return {
        state,
        effects: effects.filter((effect) => effect.type !== 'end-work' || effect.why !== 'lost'),
      };
    },
  },
  {
    title: 'the heartbeat of a member that is gone stays',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      return { state, effects: effects.filter(({ type }) => type !== 'forget') };
    },
  },
];

export const MUTANTS: readonly Mutant[] = [
  {
    title: 'the deadline counts from the answer, and from the next attempt',
    electionStep: withDeadline((_, nowMs, deadlineMs) => nowMs + deadlineMs + 3000),
  },
  {
    title: 'the deadline is twice as long',
    electionStep: withDeadline((untilMs, _, deadlineMs) => untilMs + deadlineMs),
  },
  {
    title: 'a life that is over goes on with its partitions',
    step: (before, event, moment, rules) =>
      event.type === 'died'
        ? { state: before, effects: [] }
        : memberStep(before, event, { ...moment, untilMs: Infinity }, rules),
  },
  {
    title: 'an epoch starts again',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      return {
        state,
        effects: effects.map((effect) => (effect.type === 'claim' ? { ...effect, epoch: 1 } : effect)),
      };
    },
  },
  {
    title: 'a member is taken for gone before a lease has passed',
    step: withPeers((peer) => (peer.kind === 'seen' ? { ...peer, atMs: -Infinity } : peer)),
  },
  {
    title: 'the server is not asked whether the heartbeat has changed',
    step: withPeers((peer) => (peer.kind === 'asked' ? { ...peer, kind: 'gone' } : peer)),
  },
  {
    title: 'any answer confirms that a member is gone',
    step: (before, event, moment, rules) => {
      const peer = event.type === 'confirmed' ? before.peers.get(event.id) : undefined;
      if (event.type !== 'confirmed' || peer?.kind !== 'asked')
        return memberStep(before, event, moment, rules);
      const peers = new Map(before.peers).set(event.id, { ...peer, kind: 'gone' });
      return memberStep({ ...before, peers, owners: undefined }, { type: 'tick' }, moment, rules);
    },
  },
  {
    title: 'a heartbeat that was deleted counts as released',
    step: (before, event, moment, rules) => {
      const peer = event.type === 'saw-heartbeat' ? before.peers.get(event.id) : undefined;
      if (event.type !== 'saw-heartbeat' || event.stored || !peer)
        return memberStep(before, event, moment, rules);
      const peers = new Map(before.peers).set(event.id, { ...peer, kind: 'gone' });
      return memberStep({ ...before, peers, owners: undefined }, { type: 'tick' }, moment, rules);
    },
  },
  {
    title: 'a partition is released before its work has ended',
    step: (before, event, moment, rules) => {
      const drained = memberStep(before, event, moment, rules);
      const effect = drained.effects.find(({ type }) => type === 'end-work');
      if (effect?.type !== 'end-work' || effect.why !== 'drain') return drained;
      const { partition } = effect;
      const { state, effects } = memberStep(
        drained.state,
        { type: 'worked', partition, failure: undefined },
        moment,
        rules,
      );
      return { state, effects: [...drained.effects, ...effects] };
    },
  },
  {
    title: 'a member never finds that another one is gone',
    step: withPeers((peer, nowMs) => (peer.kind === 'asked' ? { ...peer, kind: 'seen', atMs: nowMs } : peer)),
  },
  { title: 'the server replaces versions that were not read', isServerCareless: true },
];
