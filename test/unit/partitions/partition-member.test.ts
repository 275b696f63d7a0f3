/** Members of a group on Leases of the embedded apiserver, with a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { ObjectClient } from '../../../src/controller/index.ts';
import type { ResourceLock } from '../../../src/controller/index.ts';
import { LeaseLock } from '../../../src/controller/leader-election/lease-lock.ts';
import { PartitionMember } from '../../../src/partitions/partition-member.ts';
import type { Tenure } from '../../../src/partitions/partition-runner.ts';

const PARTITIONS = 4;
const RULES = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
  coverAfterMs: 15_000,
  drainTimeoutMs: 30_000,
  releaseOnCancel: true,
};
const NEVER = new AbortController().signal;

/** One group on one server. Its watch is a read of every lease after each step of the clock. */
class Group implements Disposable {
  readonly fake: FakeClock = new FakeClock();
  readonly members: Map<string, Member> = new Map();
  readonly log: string[] = [];
  readonly #client: ObjectClient;

  constructor(client: ObjectClient) {
    this.#client = client;
  }

  async join(identity: string): Promise<Member> {
    const member = new Member(this, identity);
    await this.#watch(member);
    this.members.set(identity, member);
    member.start();
    return member;
  }

  lock(identity: string, name: string): ResourceLock {
    return new LeaseLock({ client: this.#client, namespace: 'default', name, identity });
  }

  /** Moves the clock until the condition holds, at most by five lease durations. */
  async until(condition: () => boolean): Promise<void> {
    for (let passedMs = 0; !condition(); passedMs += 500) {
      assert.ok(passedMs < 75_000, `not within 75 s:\n${this.log.join('\n')}`);
      await this.settle();
      this.fake.advance(500);
      await this.settle();
    }
  }

  /** Waits until every request is answered, and lets all members see every lease. */
  async settle(): Promise<void> {
    while ([...this.members.values()].some(({ openCalls }) => openCalls > 0)) await turn();
    for (const member of this.members.values()) await this.#watch(member);
  }

  async #watch(member: Member): Promise<void> {
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => `g-partition-0${partition}`);
    const heartbeats = Array.from(this.members.keys(), (identity) => `g-member-${identity}`);
    for (const name of [...partitions, ...heartbeats])
      if (!member.isCut) member.group.see(name, await this.lock('', name).get(NEVER));
    await turn();
  }

  [Symbol.dispose](): void {
    for (const { stop } of this.members.values()) stop.abort();
  }
}

class Member {
  readonly group: PartitionMember;
  readonly stop: AbortController = new AbortController();
  readonly tenures: Map<number, Tenure> = new Map();
  run: Promise<void> | undefined;
  openCalls = 0;
  /** Whether all its requests fail, and it sees nothing. */
  isCut = false;

  constructor(scene: Group, identity: string) {
    const work = async (tenure: Tenure): Promise<void> => {
      this.tenures.set(tenure.partition, tenure);
      scene.log.push(`${identity} begins ${tenure.partition}`);
      tenure.synced();
      await new Promise((resolve) => tenure.drainSignal.addEventListener('abort', resolve));
      this.tenures.delete(tenure.partition);
      scene.log.push(`${identity} ends ${tenure.partition}${tenure.signal.aborted ? ': lost' : ''}`);
    };
    this.group = new PartitionMember({
      group: 'g',
      rules: { ...RULES, identity },
      partitionCount: PARTITIONS,
      lockOf: (name) => this.#counted(scene.lock(identity, name)),
      work,
      forget: (name) => scene.log.push(`${identity} forgets ${name}`),
      onChanged: () => undefined,
      onError: ({ code }) => scene.log.push(`${identity}: ${code}`),
      clock: scene.fake,
      random: () => 0,
    });
  }

  start(): void {
    this.run = this.group.run(this.stop.signal);
  }

  get activeCount(): number {
    return this.group.states.filter(({ kind }) => kind === 'active').length;
  }

  #counted(lock: ResourceLock): ResourceLock {
    const count = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.isCut) throw new Error('cut off');
      this.openCalls++;
      try {
        return await call();
      } finally {
        this.openCalls--;
      }
    };
    return {
      identity: lock.identity,
      describe: () => lock.describe(),
      get: (signal) => count(() => lock.get(signal)),
      create: (record, signal) => count(() => lock.create(record, signal)),
      update: (stored, record, signal) => count(() => lock.update(stored, record, signal)),
    };
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function withGroup(body: (group: Group) => Promise<void>): Promise<void> {
  await using server = await startEmbeddedApiServer({ isolation: 'none' });
  const { url, token, ca } = server;
  using group = new Group(new ObjectClient({ server: url, token, ca }));
  await body(group);
}

describe('a member', () => {
  test('takes all partitions, hands half of them to a second member, and takes them back when that one leaves', () =>
    withGroup(async (group) => {
      const a = await group.join('a');
      await group.until(() => a.activeCount === PARTITIONS);
      const b = await group.join('b');
      await group.until(() => b.activeCount === PARTITIONS / 2 && a.activeCount === PARTITIONS / 2);
      b.stop.abort();
      await group.until(() => a.activeCount === PARTITIONS);
      await b.run;
      assert.ok(!group.log.some((line) => line.includes('ERR')), group.log.join('\n'));
    }));

  test('C228 aborts the works of a member that is cut off before another one begins them', () =>
    withGroup(async (group) => {
      const a = await group.join('a');
      await group.until(() => a.activeCount === PARTITIONS);
      const b = await group.join('b');
      await group.until(() => b.activeCount === PARTITIONS / 2);
      const lost = [...b.tenures.keys()];
      b.isCut = true;
      await group.until(() => a.activeCount === PARTITIONS);
      for (const partition of lost) {
        const ending = group.log.indexOf(`b ends ${partition}: lost`);
        assert.ok(
          ending >= 0 && ending < group.log.lastIndexOf(`a begins ${partition}`),
          group.log.join('\n'),
        );
      }
      assert.equal(lost.length, PARTITIONS / 2);
      assert.equal(b.tenures.size, 0);
      b.isCut = false;
    }));
});
