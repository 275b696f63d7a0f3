/** Wrong rules of a group, each a wrapper of the right ones, which the simulator must find. */
import type { LeaderElectionRecord } from '../../../src/controller/index.ts';
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

/** Changes the heartbeats that a member sees. */
function withHeartbeats(change: (record: LeaderElectionRecord) => LeaderElectionRecord): typeof memberStep {
  return (before, event, moment, rules) => {
    if (event.type !== 'saw-heartbeat' || !event.stored) return memberStep(before, event, moment, rules);
    const stored = { ...event.stored, record: change(event.stored.record) };
    return memberStep(before, { ...event, stored }, moment, rules);
  };
}

/** Breaks no promise of a storm, which is short: only a member that fails again and again shows it. */
export const WITHOUT_YOUTH: Mutant = {
  title: 'the ends of a member count for nothing',
  step: (before, event, moment, rules) => {
    const { state, effects } = memberStep(before, event, moment, rules);
    return { state: { ...state, youngUntilMs: undefined }, effects };
  },
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
    title: 'a deletion that failed is not repeated',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      const isForgotten = (id: string): boolean =>
        effects.some((effect) => effect.type === 'forget' && effect.id === id);
      const peers = Array.from(state.peers, ([id, peer]) =>
        isForgotten(id) ? ([id, { ...peer, dueMs: Infinity }] as const) : ([id, peer] as const),
      );
      return { state: { ...state, peers: new Map(peers) }, effects };
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
    title: 'a member is deposed before a lease has passed',
    step: withPeers((peer) => (peer.kind === 'seen' ? { ...peer, dueMs: -Infinity } : peer)),
  },
  {
    title: 'a verdict is not written, and other members do not see it',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      const peers = new Map(state.peers);
      for (const effect of effects) {
        const peer = effect.type === 'depose' ? peers.get(effect.id) : undefined;
        if (effect.type === 'depose' && peer)
          peers.set(effect.id, { ...peer, kind: 'gone', dueMs: Infinity });
      }
      for (const [id, { kind, dueMs }] of before.peers) {
        const peer = peers.get(id);
        if (peer && kind === 'gone' && dueMs === Infinity) peers.set(id, { ...peer, kind, dueMs });
      }
      const others = effects.filter(({ type }) => type !== 'depose');
      return { state: { ...state, peers, owners: state.owners }, effects: others };
    },
  },
  {
    title: 'any answer confirms that a member is gone',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      const id = event.type === 'saw-heartbeat' ? event.id : '';
      const [was, is] = [before.peers.get(id), state.peers.get(id)];
      // An attempt is made again sooner than a heartbeat is due that was seen.
      const isAsked = was?.kind === 'seen' && was.dueMs - moment.nowMs <= rules.renewDeadlineMs / 2;
      if (!isAsked || !is) return { state, effects };
      return { state: { ...state, peers: new Map(state.peers).set(id, { ...is, kind: 'gone' }) }, effects };
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
    title: 'a heartbeat that another program emptied counts as over',
    step: withHeartbeats((record) =>
      record.holderIdentity === '' ? { ...record, note: JSON.stringify({ isOver: true }) } : record,
    ),
  },
  {
    title: 'a life whose heartbeat was emptied goes on',
    electionStep: (before, event, moment, rules) => {
      const { record } = (event.type === 'answered' && event.stored) || {};
      if (event.type !== 'answered' || !event.stored || record?.holderIdentity !== 'nobody')
        return step(before, event, moment, rules);
      const stored = { ...event.stored, record: { ...record, holderIdentity: '' } };
      return step(before, { ...event, stored }, moment, rules);
    },
  },
  {
    title: 'a life of which another member has taken a partition goes on',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      return effects.some(({ type }) => type === 'end-life')
        ? { state: { ...before, decidedMs: moment.nowMs }, effects: [] }
        : { state, effects };
    },
  },
  {
    title: 'a division that another program wrote is the word of the life',
    step: withPeers((peer) => ({ ...peer, renewal: 'seen' })),
  },
  {
    title: 'a duration of a second that another program wrote shortens the wait',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      const peer = event.type === 'saw-heartbeat' ? state.peers.get(event.id) : undefined;
      if (event.type !== 'saw-heartbeat' || peer?.heartbeat.durationMs !== 1000) return { state, effects };
      const peers = new Map(state.peers).set(event.id, { ...peer, dueMs: moment.nowMs + 1000 });
      return { state: { ...state, peers }, effects };
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
    title: 'a member never deposes another one',
    step: (before, event, moment, rules) => {
      const { state, effects } = memberStep(before, event, moment, rules);
      return { state, effects: effects.filter(({ type }) => type !== 'depose') };
    },
  },
  { title: 'the server replaces versions that were not read', isServerCareless: true },
];
