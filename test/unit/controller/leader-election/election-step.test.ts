/** The rules of an election as a table: a history of events with their times, and what each makes of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dueMs, newCandidate } from '../../../../src/controller/leader-election/election-state.ts';
import type {
  ElectionEffect,
  ElectionEvent,
  ElectionRules,
  ElectionState,
} from '../../../../src/controller/leader-election/election-state.ts';
import { step } from '../../../../src/controller/leader-election/election-step.ts';
import type { StoredRecord } from '../../../../src/controller/index.ts';

const RULES: ElectionRules = {
  identity: 'me',
  leaseDurationMs: 150,
  renewDeadlineMs: 100,
  retryPeriodMs: 20,
  releaseOnCancel: true,
};
/** A pause lasts 20 × (1 + 1.2 × 0.5) = 32 ms. */
const RANDOM = 0.5;

/** A record as `HOLDER/TRANSITIONS@TIME`, with a duration of 1 s; `none` for no record. */
function stored(text: string): StoredRecord | undefined {
  if (text === 'none') return undefined;
  const [, holderIdentity = '', transitions = '0', renewTime = ''] = /^(\w*)\/(\d+)@(.*)$/.exec(text) ?? [];
  const times = { acquireTime: 'then', renewTime };
  return {
    record: { holderIdentity, leaseDurationSeconds: 1, leaseTransitions: Number(transitions), ...times },
    source: text,
  };
}

/** An event by words: `tick`, `answer RECORD`, `twin RECORD`, `fail`, `conflict`, `stop`, `worked`, `broken`. */
function eventOf(text: string): ElectionEvent {
  const [word = '', of = ''] = text.split(' ');
  switch (word) {
    case 'answer':
      return { type: 'answered', stored: stored(of) };
    case 'twin':
      return { type: 'answered', stored: stored(of), isOfTwin: true };
    case 'fail':
    case 'conflict':
      return { type: 'failed', error: new Error(of), isConflict: word === 'conflict' };
    case 'worked':
      return { type: 'worked', failure: undefined };
    case 'broken':
      return { type: 'worked', failure: { error: 'broken' } };
    default:
      return { type: word as 'tick' | 'stop' };
  }
}

/** An effect in the same words. */
function wordOf(effect: ElectionEffect): string {
  switch (effect.type) {
    case 'create':
    case 'update': {
      const { holderIdentity, leaseTransitions, acquireTime, leaseDurationSeconds } = effect.draft;
      const since = acquireTime === '' ? 'now' : acquireTime;
      return `${effect.type} ${holderIdentity}/${leaseTransitions} since ${since} for ${leaseDurationSeconds} s`;
    }
    case 'new-leader':
      return `${effect.identity} leads`;
    case 'end-work':
      return effect.loss ? 'end-work: lost' : 'end-work';
    case 'end': {
      const { loss, failure } = effect;
      const why = [
        loss && `lost${loss.holder ? ` to ${loss.holder}` : ''}`,
        failure && String(failure.error),
      ];
      return ['end', ...why.filter((word) => word !== undefined)].join(' ');
    }
    default:
      return effect.type;
  }
}

interface Played {
  readonly state: ElectionState;
  /** Effects of the last event. */
  readonly effects: readonly string[];
}

/** Histories that others begin with. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  held: '0 tick, 5 answer other/3@a',
  leading: '0 tick, 1 answer none, 9 answer me/0@a',
  // A renewal was sent at 29 and answered at 30, so the leadership ends at 129.
  renewed: 'leading, 29 tick, 30 answer me/0@b',
  stopping: 'renewed, 40 stop',
  releasing: 'stopping, 60 worked',
  lost: 'renewed, 129 tick',
};

/** Plays `0 tick, 5 answer none`, or `leading, 29 tick`. */
function play(history: string, rules: ElectionRules): Played {
  let played: Played = { state: newCandidate(0), effects: [] };
  for (const line of history.split(', ')) {
    const [, at = '', event = ''] = /^(\d+) (.*)$/.exec(line) ?? [];
    if (at === '') {
      played = play(BEGINNINGS[line] ?? assert.fail(line), rules);
      continue;
    }
    const now = { nowMs: Number(at), random: RANDOM };
    const { state, effects } = step(played.state, eventOf(event), now, rules);
    played = { state, effects: effects.map(wordOf) };
  }
  return played;
}

/** Runs cases by title: `history => effects of the last event => time of the next tick`, or `nothing`, or `never`. */
function table(title: string, cases: Readonly<Record<string, string>>, rules: ElectionRules = RULES): void {
  describe(title, () => {
    for (const [subject, text] of Object.entries(cases)) {
      test(subject, () => {
        const [history = '', effects, due] = text.split(' => ');
        const { state, effects: actual } = play(history, rules);
        assert.equal(actual.join(', ') || 'nothing', effects);
        assert.equal(String(dueMs(state, rules) ?? 'never'), due);
      });
    }
  });
}

table('a candidate', {
  'reads the record at once': '0 tick => get => 50',
  'leaves a record alone that was deleted while another candidate held it':
    'held, 60 tick, 61 answer none => nothing => 93',
  'creates a missing record': '0 tick, 5 answer none => create me/0 since now for 1 s => 55',
  'leads when the record is created, until the deadline after the request': 'leading => me leads, lead => 29',
  'pauses when another one was faster': '0 tick, 5 answer none, 9 conflict => nothing => 41',
  'pauses after a failure, and reports it': '0 tick, 5 fail => report => 37',
  'gives a call up after half of the deadline': '0 tick, 50 tick => cancel, report => 82',
  'leaves a lease alone that another one holds, and reports the leader': 'held => other leads => 37',
  'reports a leader once': 'held, 40 tick, 41 answer other/3@b => nothing => 73',
  'waits for the duration from its own observation of the last change':
    'held, 40 tick, 41 answer other/3@b, 1039 tick, 1040 answer other/3@b => nothing => 1072',
  'takes a lease that has not changed for its duration':
    'held, 40 tick, 41 answer other/3@b, 1040 tick, 1041 answer other/3@b => update me/4 since now for 1 s => 1091',
  'takes a lease at once that was released': '0 tick, 5 answer /3@a => update me/4 since now for 1 s => 55',
  'continues a lease with its own name':
    '0 tick, 5 answer me/3@a => me leads, update me/3 since then for 1 s => 55',
  'does not lead when its request has succeeded too late':
    '0 tick, 5 answer none, 105 answer me/0@a => me leads, get => 155',
  'ends at once when it is stopped': '0 tick, 5 stop => cancel, end => never',
});

table('a leader', {
  'renews without reading': 'leading, 29 tick => update me/0 since then for 1 s => 79',
  'pauses after a renewal': 'renewed => nothing => 50',
  'reads the record after a renewal that failed': 'leading, 29 tick, 30 fail => report, get => 80',
  'reads it after a conflict, too': 'leading, 29 tick, 30 conflict => get => 80',
  'renews what it has read':
    'leading, 29 tick, 30 conflict, 31 answer me/0@z => update me/0 since then for 1 s => 81',
  'pauses when that fails as well':
    'leading, 29 tick, 30 conflict, 31 answer me/0@z, 32 conflict => nothing => 52',
  'creates a record that was deleted, with its number':
    '0 tick, 1 answer none, 9 answer me/57@a, 29 tick, 30 conflict, 31 answer none => create me/57 since then for 1 s => 81',
  'has lost when it reads a renewal under its own name that it has not sent':
    'leading, 29 tick, 30 conflict, 31 twin me/0@z => cancel, end-work: lost => 0',
  'gives a renewal up in time for another attempt':
    'renewed, 50 tick, 100 tick => cancel, report, get => 129',
  'has lost when the deadline has passed since the last renewal was sent':
    'renewed, 50 tick, 100 tick, 129 tick => cancel, end-work: lost => 179',
  'has lost even when a success arrives after the deadline':
    'renewed, 50 tick, 130 answer me/0@c => cancel, end-work: lost => 179',
  'has lost at once when another one holds the lease':
    'leading, 29 tick, 30 conflict, 31 answer other/1@b => other leads, cancel, end-work: lost => 0',
  'stays the leader when its work is done': 'leading, 10 worked => nothing => 29',
  'releases the lease when its work has failed': 'leading, 10 broken => end-work, get => 60',
  'lets its work end when it is stopped': 'renewed, 40 stop => end-work => 50',
  'renews while the work ends': 'stopping, 50 tick => update me/0 since then for 1 s => 100',
  'releases the lease when the work has ended': 'releasing => end-work, get => 110',
  'releases the lease at once when its work was done before':
    'leading, 10 worked, 12 stop => end-work, get => 62',
  'does not await a renewal to release the lease':
    'stopping, 50 tick, 60 worked => cancel, end-work, get => 110',
});

table('a leader that releases its lease', {
  'empties the record, and keeps the count of transitions':
    'releasing, 61 answer me/3@b => update /3 since now for 1 s => 111',
  'has ended with the answer': 'releasing, 61 answer me/3@b, 62 answer /3@c => end => never',
  'reads again after a conflict': 'releasing, 61 answer me/3@b, 62 conflict => get => 112',
  'gives up at the deadline':
    'releasing, 109 answer me/3@b, 158 conflict, 160 tick => cancel, report, end => never',
  'gives up when a call fails': 'releasing, 61 fail => report, end => never',
  'leaves the lease of another one alone': 'releasing, 61 answer other/4@b => end => never',
  'ends when there is no lease': 'releasing, 61 answer none => end => never',
  'ends with the failure of its work': 'leading, 10 broken, 11 answer none => end broken => never',
});

table(
  'a leader without releaseOnCancel',
  {
    'leaves its lease to expire': 'releasing => end-work, end => never',
  },
  { ...RULES, releaseOnCancel: false },
);

table('a leader that has lost', {
  'waits for its work': 'lost => end-work: lost => 179',
  'ends with the work': 'lost, 140 worked => end lost => never',
  'ends with the failure of the work': 'lost, 140 broken => end lost broken => never',
  'ends without the work when another one may lead': 'lost, 179 tick => end lost => never',
  'ends at once when its work was done before':
    'leading, 10 worked, 101 tick => end-work: lost, end lost => never',
  'ends at once when it was suspended until another one could lead':
    'renewed, 5000 tick => end-work: lost, end lost => never',
  'ends when another one holds the lease, at the next moment':
    'leading, 29 tick, 30 conflict, 31 answer other/1@b, 31 tick => end lost to other => never',
});

test('an election that has ended does nothing more', () => {
  for (const event of ['tick', 'stop', 'fail', 'worked']) {
    assert.deepEqual(play(`0 tick, 1 stop, 2 ${event}`, RULES).effects, []);
  }
});
