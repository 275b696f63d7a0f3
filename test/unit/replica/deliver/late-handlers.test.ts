/**
 * Handlers that join, resync and leave during a random history, each at its own pace. Each receives the content of the
 * cache at its join, and then exactly the changes that all handlers receive.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { Random } from '../../../../src/base/clock.ts';
import { SharedProcessor } from '../../../../src/replica/deliver/processor-listener.ts';
import type { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import type { Entry } from '../../../../src/replica/store/entry.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import type { WireObject } from '../store/objects.ts';
import { Mirror } from '../store/mirror.ts';
import { ReplicaTwin } from '../store/replica-twin.ts';
import { line } from '../store/scripted-replica.ts';
import { handlerOf, newListener, recordingHandler } from './recording-handler.ts';
import type { Reports } from './recording-handler.ts';

const STEPS = 1200;

/** The states that a resync must deliver unless they are deleted first. */
interface Resync {
  readonly callsBefore: number;
  readonly states: ReadonlyMap<string, string>;
  readonly loggedBefore: number;
}

/** A handler that joined late, and the notifications that it must receive. */
class LateHandler {
  readonly listener: ProcessorListener;
  readonly #reports: Reports;
  readonly calls: string[] = [];
  readonly mirror: Mirror = new Mirror();
  readonly atJoin: readonly string[];
  readonly loggedAtJoin: number;
  readonly resyncs: Resync[] = [];

  constructor(twin: ReplicaTwin, processor: SharedProcessor, log: readonly string[]) {
    this.atJoin = linesOf(twin).map((text) => `add! ${text}`);
    this.loggedAtJoin = log.length;
    const handler = handlerOf((delivery) => {
      const { oldEntry, newEntry } = delivery;
      this.calls.push(line(delivery));
      for (const entry of [oldEntry, newEntry]) if (entry) checkReadable(entry);
      this.mirror.change(oldEntry, newEntry);
    });
    ({ listener: this.listener, reports: this.#reports } = newListener(handler, { table: twin.owner.table }));
    processor.add(this.listener, twin.replica);
  }

  resync(twin: ReplicaTwin, processor: SharedProcessor, log: readonly string[]): void {
    const states = new Map(linesOf(twin).map((text) => [keyOf(text), text]));
    const { notifications } = this.listener.backlog;
    processor.resync(twin.replica, [this.listener]);
    // A handler that still receives its previous resync gets no other.
    if (this.listener.backlog.notifications > notifications)
      this.resyncs.push({ callsBefore: this.calls.length, states, loggedBefore: log.length });
  }

  /** Checks the calls after everything was delivered. */
  check(log: readonly string[]): void {
    for (const { error } of this.#reports.errors) throw error;
    const initial = this.calls.slice(0, this.atJoin.length);
    assert.deepEqual([...initial].sort(), [...this.atJoin].sort(), 'the initial list');
    const later = this.calls.slice(this.atJoin.length);
    const changes = withoutSyncs(later);
    assert.deepEqual(changes, withoutSyncs(log.slice(this.loggedAtJoin)), 'the changes after it');
    for (const { states, callsBefore, loggedBefore } of this.resyncs) {
      const received = new Set(this.calls.slice(callsBefore));
      const deleted = new Set(log.slice(loggedBefore).filter(isDeletion).map(keyOf));
      for (const [key, state] of states) {
        const version = state.split('@')[1];
        if (!deleted.has(key)) assert.ok(received.has(`update ${state}>${version}`), `resync of ${state}`);
      }
    }
  }
}

/** Checks that the entry's bytes are still its own. */
function checkReadable(entry: Entry): void {
  const { metadata } = entry.object as WireObject;
  assert.equal(metadata['name'], entry.name);
  assert.equal(metadata['resourceVersion'], entry.resourceVersion);
}

function linesOf(twin: ReplicaTwin): string[] {
  return twin.cachedEntries.map((entry) => `${entry.key}@${entry.version}`);
}

function keyOf(text: string): string {
  return text.replace(/^\S+ (?=\S)/, '').split('@')[0] ?? '';
}

function isDeletion(text: string): boolean {
  return text.startsWith('lost') || text.startsWith('delete');
}

/** Resyncs and relisted unchanged objects look alike; the mirror has checked them already. */
function withoutSyncs(calls: readonly string[]): string[] {
  return calls.filter((text) => !/^update .*@(\S+)>\1$/.test(text));
}

function change(twin: ReplicaTwin, random: Random): void {
  const chance = random();
  if (chance < 0.45) twin.event(twin.write(), false);
  else if (chance < 0.6) {
    const deleted = twin.delete(random() < 0.1);
    if (deleted) twin.event(deleted, true);
  } else if (chance < 0.64) twin.begin();
  else if (chance < 0.9) twin.item();
  else if (chance < 0.91) twin.abort();
  else if (chance < 0.95) twin.end();
  else twin.dispose();
}

describe('handlers that join and leave during a random history', () => {
  for (const seed of [11, 12, 13, 14]) {
    test(`C7 C9 C10 C13 receive the state at their join and then every change, once and in order (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const processor = new SharedProcessor();
      const twin = new ReplicaTwin(random, processor, 2);
      const log: string[] = [];
      const { listener: first } = newListener(recordingHandler(log), { table: twin.owner.table });
      processor.add(first, twin.replica);
      twin.begin();
      twin.end();
      const present: LateHandler[] = [];
      const removed: LateHandler[] = [];
      for (let step = 0; step < STEPS; step++) {
        change(twin, random);
        first.deliver(Infinity);
        const chance = random();
        const one = present[wholeNumber(random, 0, present.length - 1)];
        if (chance < 0.03) present.push(new LateHandler(twin, processor, log));
        else if (chance < 0.04 && one) {
          processor.remove(one.listener);
          removed.push(...present.splice(present.indexOf(one), 1));
        } else if (chance < 0.08 && one) one.resync(twin, processor, log);
        else if (one) one.listener.deliver(wholeNumber(random, 0, 12));
      }
      assert.ok(present.length > 8 && removed.length > 3, `${present.length}, ${removed.length}`);
      assert.ok(present.some(({ resyncs }) => resyncs.length > 0));
      for (const late of present) {
        late.listener.deliver(Infinity);
        assert.deepEqual(late.listener.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
        late.mirror.checkEqual(twin.cachedEntries);
        late.check(log);
      }
      for (const { listener, calls } of removed) {
        const received = calls.length;
        assert.equal(listener.deliver(Infinity), 0);
        assert.equal(calls.length, received, 'C8 a removed handler receives nothing more');
      }
      twin.clear();
      for (const listener of [first, ...present.map((late) => late.listener)]) listener.deliver(Infinity);
      twin.dispose();
      assert.deepEqual(
        twin.entries.filter((entry) => twin.owner.table.isCurrent(entry)),
        [],
      );
      assert.equal(twin.owner.slabs.liveBytes, 0);
    });
  }
});
