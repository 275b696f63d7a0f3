/** The rules of a member, step by step. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredRecord } from '../../../src/controller/index.ts';
import { KubeloomError } from '../../../src/index.ts';
import { dueMs } from '../../../src/partitions/decide.ts';
import { newMember } from '../../../src/partitions/member-state.ts';
import type { MemberEvent, MemberRules, MemberState } from '../../../src/partitions/member-state.ts';
import { noteOf } from '../../../src/partitions/member-turn.ts';
import { memberStep } from '../../../src/partitions/member-step.ts';

const RULES: MemberRules = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
  drainTimeoutMs: 30_000,
  partitionCount: 1,
  division: 'uid-1',
};

function stored(version: number, holderIdentity: string, leaseTransitions = 0, note?: object): StoredRecord {
  const times = { leaseDurationSeconds: 15, acquireTime: '', renewTime: '' };
  const record = { holderIdentity, leaseTransitions, ...times };
  return { record: note ? { ...record, note: JSON.stringify(note) } : record, source: String(version) };
}

/** A heartbeat that a member deposed. */
function over(version: number): StoredRecord {
  return stored(version, '', 0, { division: 'uid-1', isOver: true });
}

/** A member that is alive from time 0 on, and has seen its own heartbeat. */
class Subject {
  state: MemberState;
  untilMs = Infinity;
  readonly #id: string;
  readonly #rules: MemberRules;

  /** @param order `answer first` or `watch first` @param holds what another member holds that was there before */
  constructor(
    id = 'me.x.1',
    order = 'answer first',
    holds?: object,
    rules = RULES,
    ends: readonly (readonly [string, object])[] = [],
  ) {
    this.#id = id;
    this.#rules = rules;
    this.state = newMember(rules, 0);
    if (holds) this.sees(0, 'other.y.1', 2, { division: 'uid-1', holds });
    for (const [life, note] of ends)
      this.at(0, { type: 'saw-heartbeat', id: life, stored: stored(2, '', 0, note) });
    const lived = { type: 'lived', id } as const;
    const seen = { type: 'saw-heartbeat', id, stored: stored(1, id) } as const;
    for (const event of order === 'answer first' ? [lived, seen] : [seen, lived]) this.at(0, event);
  }

  /** Returns the words for the effects of an event. */
  at(nowMs: number, event: MemberEvent): string[] {
    const now = { nowMs, untilMs: this.untilMs, wallTime: 't' };
    const { state, effects } = memberStep(this.state, event, now, this.#rules);
    this.state = state;
    return effects.map((effect) => {
      if (effect.type === 'depose') return `depose ${effect.id} ${effect.heartbeat.version}`;
      if (effect.type === 'claim' || effect.type === 'restore') return `${effect.type} ${effect.epoch}`;
      if (effect.type === 'forget') return `forget ${effect.version}`;
      return effect.type === 'end-work' ? `end-work: ${effect.why}` : effect.type;
    });
  }

  tick(nowMs: number): string[] {
    return this.at(nowMs, { type: 'tick' });
  }

  sees(nowMs: number, id: string, version: number, note?: object): string[] {
    return this.at(nowMs, { type: 'saw-heartbeat', id, stored: stored(version, id, 0, note) });
  }

  seesLease(nowMs: number, lease: StoredRecord | undefined): string[] {
    return this.at(nowMs, { type: 'saw-lease', partition: 0, stored: lease });
  }

  claims(nowMs: number, lease: StoredRecord): string[] {
    return this.at(nowMs, { type: 'claimed', partition: 0, id: this.#id, stored: lease });
  }

  /** The heartbeat of the other life is over. */
  deposed(nowMs: number, version: number): string[] {
    return this.at(nowMs, { type: 'saw-heartbeat', id: 'other.y.1', stored: over(version) });
  }

  get kind(): string | undefined {
    return this.state.partitions[0]?.phase.kind;
  }
}

/** The partition is owned by `other`, which cannot take it, so that `me` is preferred. */
function beside(note: object = { cannotTake: { 0: 't' } }): Subject {
  const subject = new Subject();
  subject.sees(100, 'other.y.1', 2, { division: 'uid-1', ...note });
  subject.seesLease(100, stored(3, 'other.y.1', 7));
  return subject;
}

/** The member owns the partition since 260, with epoch 4. */
function owner(): Subject {
  const subject = new Subject();
  subject.tick(250);
  subject.claims(260, stored(2, 'me.x.1', 4));
  return subject;
}

describe('a member', () => {
  test('claims a free partition when others have had time to appear', () => {
    const subject = new Subject();
    assert.deepEqual(subject.tick(249), []);
    assert.deepEqual(subject.tick(250), ['claim 0']);
    assert.deepEqual(subject.claims(260, stored(2, 'me.x.1')), ['start-work']);
    assert.equal(subject.kind, 'syncing');
  });

  for (const note of [
    { division: 7, isLeaving: 'yes', holds: null, cannotTake: 1 },
    { holds: { 0: null } },
    { holds: { 0: ['a', true] } },
  ])
    test(`reads ${JSON.stringify(note)} of another program as an empty note`, () => {
      const subject = new Subject();
      subject.at(100, { type: 'saw-heartbeat', id: 'other.y.1', stored: stored(2, 'other.y.1', 0, note) });
      const { heartbeat } = subject.state.peers.get('other.y.1') ?? {};
      assert.deepEqual(heartbeat?.note, {
        division: '',
        isLeaving: false,
        isOver: false,
        holds: {},
        cannotTake: {},
      });
    });

  test('C442 still has a tick due when an event that decides nothing comes before the late timer', () => {
    const subject = new Subject();
    assert.equal(dueMs(subject.state, RULES), 250);
    // The member's own renewal.
    assert.deepEqual(subject.sees(251, 'me.x.1', 2), []);
    assert.equal(dueMs(subject.state, RULES), 250);
    assert.deepEqual(subject.tick(252), ['claim 0']);
    subject.claims(260, stored(2, 'me.x.1'));
    assert.equal(dueMs(subject.state, RULES), undefined);
  });

  test('C228 deposes a life whose heartbeat had one version for a whole lease, and takes its partition when the server says that it is over', () => {
    const subject = beside();
    assert.deepEqual(subject.tick(15_099), []);
    assert.deepEqual(subject.tick(15_100), ['depose other.y.1 2']);
    // A renewal came before.
    assert.deepEqual(subject.sees(15_200, 'other.y.1', 9, { division: 'uid-1', cannotTake: { 0: 't' } }), []);
    assert.deepEqual(subject.tick(30_199), []);
    assert.deepEqual(subject.tick(30_200), ['depose other.y.1 9']);
    assert.deepEqual(subject.deposed(30_300, 10), ['claim 8']);
    // The watch lags behind the answer.
    subject.sees(30_400, 'other.y.1', 9);
    assert.equal(subject.state.peers.get('other.y.1')?.kind, 'gone');
  });

  test('C460 deposes again when no answer came', () => {
    const subject = beside();
    subject.tick(14_000);
    for (const nowMs of [15_100, 20_100, 25_100]) {
      assert.equal(dueMs(subject.state, RULES), nowMs);
      assert.deepEqual(subject.tick(nowMs), ['depose other.y.1 2']);
    }
  });

  test('C460 leaves a life alone for a lease after another program has edited its heartbeat', () => {
    const note = { division: 'uid-1', cannotTake: { 0: 't' }, holds: { 0: [7, true] } };
    for (const edited of [
      stored(9, '', 0, note),
      stored(9, 'me.x.1', 0, note),
      stored(9, 'other.y.1', 0, note),
    ]) {
      for (const leaseDurationSeconds of [1, 2 ** 31 - 1]) {
        const subject = beside();
        const heartbeat = { ...edited, record: { ...edited.record, leaseDurationSeconds } };
        assert.deepEqual(subject.at(1000, { type: 'saw-heartbeat', id: 'other.y.1', stored: heartbeat }), []);
        assert.deepEqual(subject.tick(15_999), []);
        assert.deepEqual(subject.tick(16_000), ['depose other.y.1 9']);
      }
    }
  });

  test('C460 is over, with all partitions, when another life has taken one of them', () => {
    const subject = new Subject('me.x.1', 'answer first', undefined, { ...RULES, partitionCount: 2 });
    subject.tick(250);
    for (const partition of [0, 1])
      subject.at(260, { type: 'claimed', partition, id: 'me.x.1', stored: stored(2, 'me.x.1', 4) });
    const lost = ['end-work: lost', 'renew'];
    assert.deepEqual(subject.seesLease(300, stored(3, 'other.y.1', 5)), ['end-life', ...lost, ...lost]);
    assert.deepEqual(subject.state.life, { kind: 'none' });
    assert.deepEqual(subject.at(301, { type: 'died' }), []);
  });

  test('takes a partition whose Lease names no life when another program has not changed the Lease for a lease', () => {
    const subject = new Subject();
    for (const version of [3, 4])
      subject.seesLease(50 * version, stored(version, 'web_0 of another program', 7));
    subject.tick(250);
    assert.equal(dueMs(subject.state, RULES), 15_200);
    assert.deepEqual(subject.tick(15_199), []);
    assert.deepEqual(subject.tick(15_200), ['claim 8']);
  });

  test('takes part at once when its watch is faster than the answer to its first write, and does not request its own heartbeat', () => {
    const subject = new Subject('me.x.1', 'watch first');
    assert.deepEqual(subject.tick(249), []);
    assert.deepEqual(subject.tick(250), ['claim 0']);
    assert.deepEqual(subject.tick(15_100), []);
  });

  test('C228 waits for a whole lease after a heartbeat was deleted', () => {
    const subject = beside();
    assert.deepEqual(subject.at(10_000, { type: 'saw-heartbeat', id: 'other.y.1', stored: undefined }), []);
    assert.deepEqual(subject.tick(24_999), []);
    assert.deepEqual(subject.tick(25_000), ['depose other.y.1 undefined']);
    assert.deepEqual(subject.deposed(25_100, 9), ['claim 8']);
  });

  test('C228 leaves a partition alone whose lease was deleted while its owner lives', () => {
    const subject = beside({ cannotTake: { 0: 't' }, holds: { 0: [7, true] } });
    subject.tick(1000);
    assert.deepEqual(subject.seesLease(1000, undefined), []);
    assert.deepEqual(subject.tick(14_000), []);
  });

  test('C228 C230 makes the deleted lease of its own partition again, with its epoch', () => {
    const subject = owner();
    assert.deepEqual(subject.seesLease(300, undefined), ['restore 4']);
    assert.deepEqual(subject.tick(2300), ['restore 4']);
    assert.equal(subject.kind, 'syncing');
  });

  test('C233 makes a lease when the server says that there is none, although the answer to an earlier write has shown one', () => {
    const subject = new Subject();
    subject.tick(250);
    subject.untilMs = 300;
    subject.seesLease(290, stored(2, 'me.x.1', 1));
    subject.seesLease(295, undefined);
    subject.claims(300, stored(2, 'me.x.1', 1));
    subject.at(300, { type: 'died' });
    subject.untilMs = Infinity;
    subject.at(400, { type: 'lived', id: 'me.x.2' });
    subject.sees(400, 'me.x.2', 4);
    assert.deepEqual(subject.tick(650), ['claim 2']);
    assert.deepEqual(subject.at(700, { type: 'refused', partition: 0, isMissing: true }), []);
    assert.equal(subject.state.partitions[0]?.lease?.stored, undefined);
    assert.deepEqual(subject.tick(2700), ['claim 2']);
  });

  test('C460 deposes its own former life, and removes the heartbeat later, again if the deletion fails', () => {
    const subject = new Subject();
    subject.sees(2000, 'me.x.1', 5);
    subject.at(20_000, { type: 'died' });
    subject.at(20_100, { type: 'lived', id: 'me.x.2' });
    subject.sees(20_100, 'me.x.2', 6);
    assert.ok(subject.tick(35_000).includes('depose me.x.1 5'));
    subject.at(35_100, { type: 'saw-heartbeat', id: 'me.x.1', stored: over(7) });
    for (const nowMs of [335_100, 635_100]) {
      assert.ok(!subject.tick(nowMs - 1).includes('forget 7'));
      assert.ok(subject.tick(nowMs).includes('forget 7'));
    }
    subject.at(635_200, { type: 'saw-heartbeat', id: 'me.x.1', stored: undefined });
    assert.equal(subject.state.peers.size, 0);
  });

  test('C228 waits for a whole lease before it takes a partition without a lease in a group that others work in', () => {
    const subject = new Subject('me.x.1', 'answer first', { 0: [7, true] });
    assert.deepEqual(subject.tick(250), []);
    // The partition is free of its owner, which never said that it has the other one.
    assert.deepEqual(subject.sees(300, 'other.y.1', 3, { division: 'uid-1' }), []);
    assert.deepEqual(subject.tick(14_999), []);
    assert.deepEqual(subject.tick(15_000), ['claim 0']);
  });

  test('begins no work when another member is preferred before its claim is answered', () => {
    const subject = new Subject();
    subject.tick(250);
    subject.sees(251, 'third.y.1', 2, { division: 'uid-1' });
    assert.deepEqual(subject.claims(260, stored(3, 'me.x.1')), ['release']);
    assert.equal(subject.kind, 'releasing');
  });

  test('C228 makes no owner of a claim whose answer comes after the deadline', () => {
    const subject = new Subject();
    subject.tick(250);
    subject.untilMs = 5000;
    assert.deepEqual(subject.claims(5000, stored(2, 'me.x.1')), []);
    assert.equal(subject.kind, 'other');
  });

  test('C228 loses all partitions when its life is over, and its next life claims again', () => {
    const subject = owner();
    assert.deepEqual(subject.at(20_000, { type: 'died' }), ['end-work: lost', 'renew']);
    assert.equal(subject.kind, 'aborted');
    subject.at(20_010, { type: 'worked', partition: 0, failure: undefined });
    subject.at(20_020, { type: 'lived', id: 'me.x.2' });
    subject.sees(20_030, 'me.x.2', 5);
    assert.deepEqual(subject.tick(20_280), ['claim 5']);
  });

  test('C233 claims again after a claim that failed, and takes what another member has released', () => {
    const subject = new Subject();
    subject.tick(250);
    assert.deepEqual(subject.at(300, { type: 'refused', partition: 0, isMissing: false }), []);
    assert.deepEqual(subject.tick(2299), []);
    assert.deepEqual(subject.tick(2300), ['claim 0']);
    const other = beside();
    assert.deepEqual(other.tick(400), []);
    assert.deepEqual(other.seesLease(500, stored(4, '', 7)), ['claim 8']);
  });

  test('C301 is not preferred for a partition that has failed, until it has rested', () => {
    const subject = new Subject();
    subject.sees(100, 'other.y.1', 2, { division: 'uid-1', isLeaving: true });
    subject.tick(400);
    subject.claims(410, stored(2, 'me.x.1', 4));
    const failure = { error: new Error('broken') };
    const effects = subject.at(500, { type: 'worked', partition: 0, failure });
    assert.deepEqual(effects, ['renew', 'release', 'failed']);
    subject.at(510, { type: 'released', partition: 0, stored: stored(3, '', 4) });
    subject.sees(520, 'other.y.1', 4, { division: 'uid-1' });
    assert.deepEqual(subject.tick(14_000), []);
    assert.deepEqual(subject.state.owners, ['other.y.1']);
  });

  test('C441 leaves when a work fails before it is active with an error that another attempt would repeat', () => {
    for (const isActive of [false, true]) {
      const subject = owner();
      if (isActive) subject.at(300, { type: 'synced', partition: 0 });
      const failure = { error: new KubeloomError('ERR_KUBELOOM_OPTION', 'there is no controller') };
      const effects = subject.at(500, { type: 'worked', partition: 0, failure });
      assert.deepEqual(effects, ['renew', 'release', ...(isActive ? ['failed'] : ['give-up', 'renew'])]);
      const released = subject.at(510, { type: 'released', partition: 0, stored: stored(3, '', 4) });
      assert.deepEqual(released, isActive ? [] : ['end']);
    }
  });

  test('C301 releases a partition whose work does not end after its drain was aborted', () => {
    const subject = owner();
    assert.deepEqual(subject.at(1000, { type: 'leave' }), ['renew', 'end-work: drain']);
    assert.deepEqual(subject.tick(31_000), ['end-work: overdue', 'renew']);
    assert.deepEqual(subject.tick(36_000), ['still-running', 'release']);
    const released = subject.at(36_100, { type: 'released', partition: 0, stored: stored(3, '', 4) });
    assert.deepEqual(released, ['end']);
    assert.equal(subject.kind, 'aborted');
  });

  test('keeps the preferred owners while heartbeats are renewed, also at the first renewal', () => {
    const subject = new Subject();
    subject.sees(10, 'peer.x.1', 1);
    subject.tick(1000);
    const { owners } = subject.state;
    assert.ok(owners);
    for (const version of [2, 3]) {
      subject.sees(1000 * version, 'peer.x.1', version);
      subject.tick(1000 * version);
      assert.equal(subject.state.owners, owners);
    }
  });

  test('C228 leaves a partition alone for a lease although the heartbeat of its owner was never seen renewed', () => {
    const subject = new Subject('me-0.x.1');
    subject.sees(10, 'peer-0.x.1', 1, { division: 'uid-1', holds: { 0: [3, true] } });
    subject.seesLease(20, stored(2, 'peer-0.x.1', 3));
    for (const nowMs of [4010, 15_009]) assert.deepEqual(subject.tick(nowMs), []);
    assert.deepEqual(subject.tick(15_010), ['depose peer-0.x.1 1']);
  });

  test('C461 is preferred only for what no other member can take while it is young, for a lease, and twice as long after each end of its identity', () => {
    const deposed = { division: 'uid-1', isOver: true };
    const left = { ...deposed, isLeaving: true };
    for (const [ends, leases] of [
      [{}, 0],
      [{ 'me.b.1': left, 'other.y.1': left }, 0],
      [{ 'other.y.1': deposed }, 1],
      [{ 'me.b.1': deposed }, 1],
      [{ 'me.b.1': deposed, 'me.c.1': deposed, 'me.d.1': left, 'me.e.1': deposed }, 4],
    ] as const) {
      const subject = new Subject('me.x.1', 'answer first', undefined, RULES, Object.entries(ends));
      subject.sees(10, 'peer.z.1', 1, { division: 'uid-1', cannotTake: { 0: '2026' } });
      subject.tick(250);
      assert.deepEqual(subject.state.owners, ['me.x.1']);
      subject.sees(300, 'peer.z.1', 2, { division: 'uid-1' });
      subject.sees(310, 'peer.z.1', 3, { division: 'uid-1' });
      const owner = leases === 0 ? undefined : 'peer.z.1';
      const note = noteOf(subject.state, RULES);
      assert.deepEqual(note.cannotTake, leases === 0 ? {} : { 0: '1970-01-01T00:00:00.000Z' });
      if (owner) assert.deepEqual(subject.state.owners, [owner]);
      if (!owner) continue;
      const untilMs = leases * RULES.leaseDurationMs;
      assert.ok(!subject.tick(untilMs - 1).includes('renew'));
      assert.ok(subject.tick(untilMs).includes('renew'));
      assert.deepEqual(noteOf(subject.state, RULES).cannotTake, {});
    }
  });

  test('C463 reports another process of its identity once, when that renews its heartbeat and does not leave', () => {
    for (const [id, isLeaving, effects] of [
      ['me.y.1', false, ['twin']],
      ['me.y.1', true, []],
      ['other.y.1', false, []],
    ] as const) {
      const subject = new Subject();
      const note = { division: 'uid-1', isLeaving };
      const twins = [10, 20, 30].map((nowMs) => subject.sees(nowMs, id, nowMs, note)).flat();
      assert.deepEqual(twins, effects);
    }
  });

  test('C300 is refused by an older member with another division when a second version says so', () => {
    const division = { division: 'uid-2' };
    const subject = new Subject();
    subject.sees(10, 'an-older.y.1', 10, { division: 'uid-1' });
    assert.deepEqual(subject.sees(20, 'an-older.y.1', 20, division), []);
    assert.deepEqual(subject.sees(30, 'an-older.y.1', 30, { division: 'uid-1' }), []);
    subject.sees(40, 'an-older.y.1', 40, division);
    assert.deepEqual(subject.sees(50, 'an-older.y.1', 50, division), ['refuse']);
  });

  test('C447 begins a work whose claim is answered while another partition drains', () => {
    const subject = new Subject('me.x.1', 'answer first', undefined, { ...RULES, partitionCount: 2 });
    assert.deepEqual(subject.tick(250), ['claim 0', 'claim 0']);
    subject.at(260, { type: 'claimed', partition: 1, id: 'me.x.1', stored: stored(2, 'me.x.1') });
    assert.deepEqual(subject.at(270, { type: 'synced', partition: 1 }), ['renew']);
    // The peer is preferred for partition 1.
    assert.deepEqual(subject.sees(280, 'other.y.1', 3, { division: 'uid-1' }), ['end-work: drain']);
    assert.deepEqual(subject.claims(290, stored(4, 'me.x.1')), ['start-work']);
  });

  test('C447 takes another partition first when the owner does not hand the first over within a drain and two leases', () => {
    const subject = new Subject('me.x.1', 'answer first', undefined, { ...RULES, partitionCount: 4 });
    const holds = Object.fromEntries([0, 1, 2, 3].map((partition) => [partition, [1, true]]));
    const sees = (nowMs: number): void => {
      subject.sees(nowMs, 'other.y.1', nowMs, { division: 'uid-1', holds });
      for (const partition of [0, 1, 2, 3])
        subject.at(nowMs, { type: 'saw-lease', partition, stored: stored(9, 'other.y.1', 1) });
      subject.tick(nowMs);
    };
    const first = (): number => subject.state.owners?.indexOf('me.x.1') ?? -1;
    for (let nowMs = 250; nowMs <= 60_000; nowMs += 2000) sees(nowMs);
    const before = first();
    assert.ok(before >= 0);
    assert.equal(dueMs(subject.state, RULES), 60_250);
    subject.tick(60_250);
    assert.ok(first() >= 0 && first() !== before);
  });

  test('counts a peer again whose heartbeat was absent', () => {
    // The peer is preferred for the one partition.
    const subject = new Subject('me-0.x.1');
    subject.sees(10, 'peer-0.x.1', 1);
    subject.sees(20, 'peer-0.x.1', 2);
    subject.tick(1000);
    const before = subject.state.owners;
    assert.deepEqual(before, ['peer-0.x.1']);
    subject.at(1100, { type: 'saw-heartbeat', id: 'peer-0.x.1', stored: undefined });
    // Another member comes and goes, so that the owners are computed without the peer.
    subject.sees(1200, 'other.x.1', 1);
    subject.sees(1300, 'other.x.1', 2, { isLeaving: true });
    subject.tick(1400);
    subject.sees(1500, 'peer-0.x.1', 3);
    subject.tick(1600);
    assert.deepEqual(subject.state.owners, before);
  });
});
