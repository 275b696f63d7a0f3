/**
 * Thread entry: one end of a ring, real code, that stops before every access to shared memory until the scheduler
 * grants it.
 */
import { workerData } from 'node:worker_threads';
import { BELL_LINES, Bell } from '../../../../src/shared/ring/bell.ts';
import { RingConsumer, RingMemory, RingProducer } from '../../../../src/shared/ring/ring.ts';
import { observed } from './accesses.ts';
import type { Access, WaitResult } from './accesses.ts';
import {
  ABORT,
  AT,
  BLOCKED_ADDRESS,
  GO,
  NOTIFIED,
  ROLES,
  RUN,
  STATE,
  State,
  WORDS_PER_THREAD,
} from './lockstep-protocol.ts';
import type { LockstepPlan } from './lockstep-protocol.ts';
import { checkStressRecord, payloadSize, writeStressRecord } from './stress-records.ts';
import type { StressPlan } from './stress-records.ts';

class Aborted extends Error {}

const plan = workerData as LockstepPlan;
// The scheduler's words need the original functions.
const { load, store, add, notify, wait } = Atomics;
const words = new Int32Array(plan.control);
const base = ROLES.indexOf(plan.role) * WORDS_PER_THREAD;
const records: StressPlan = {
  ...plan,
  recordCount: plan.records,
  seed: 5,
  drainEvery: 0,
  parkTimeoutMs: 0,
};
let granted = 0;

function arrive(state: number): void {
  store(words, base + STATE, state);
  add(words, base + AT, 1);
  notify(words, base + AT);
}

/** A late notification for an earlier access may end a wait. */
function untilChanged(word: number, seen: number): void {
  while (load(words, base + word) === seen) wait(words, base + word, seen);
}

function stop(state: number): void {
  arrive(state);
  untilChanged(GO, granted);
  granted = load(words, base + GO);
  if (granted === ABORT) throw new Aborted();
}

const observer = {
  before({ kind, address }: Access): void {
    if (plan.mutant === 'no notify' && kind === 'notify') return;
    stop(State.Ready);
    if (kind === 'notify') store(words, base + NOTIFIED, address + 1);
  },
  wait(target: Int32Array, index: number, seen: number, address: number): WaitResult {
    if (load(target, index) !== seen) return 'not-equal';
    store(words, base + BLOCKED_ADDRESS, address);
    stop(State.Blocked);
    return 'ok';
  },
};

/** Publishes at most two records at a time, and parks when the ring is full. */
function produce(): void {
  const memory = new RingMemory(plan.ring);
  const producer = new RingProducer(memory);
  const bells = new Int32Array(plan.bells);
  const [data, space] = [new Bell(bells, 0), new Bell(bells, BELL_LINES)];
  for (let next = 0; next < plan.records; next++) {
    if (plan.mutant === 'publish before payload') memory.tail.store(memory.tail.load() + 16);
    while (!writeStressRecord(producer, next, records)) {
      if (producer.publish()) data.ring();
      space.park(() => producer.canClaim(payloadSize(next, records)), Number.POSITIVE_INFINITY);
    }
    if (next % 2 === 1 && producer.publish()) data.ring();
  }
  if (producer.publish()) data.ring();
}

function consume(): void {
  const memory = new RingMemory(plan.ring);
  const consumer = new RingConsumer(memory);
  const bells = new Int32Array(plan.bells);
  const [data, space] = [new Bell(bells, 0), new Bell(bells, BELL_LINES)];
  for (let next = 0; next < plan.records;) {
    while (consumer.peek()) {
      if (plan.mutant === 'release before read') memory.head.store(memory.tail.load());
      checkStressRecord(consumer, next++, records);
      consumer.advance();
    }
    if (consumer.releaseToWaiting() === 'producer may wait') space.ring();
    if (next < plan.records) data.park(() => consumer.hasRecord, Number.POSITIVE_INFINITY);
  }
}

for (let run = 0; ; run++) {
  untilChanged(RUN, run);
  granted = 0;
  try {
    observed(observer, plan.role === 'producer' ? produce : consume);
    arrive(State.Done);
  } catch (error) {
    arrive(error instanceof Aborted ? State.Idle : State.Failed);
  }
}
