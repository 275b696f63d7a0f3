/**
 * client-go's TestHandlerAbuse, on seeds: handlers come and go at random, from outside and from inside their
 * own calls, some slow, some failing, while the source changes; then the informer stops in the middle of it.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { HandlerRegistration, SharedIndexInformer } from '../../../src/index.ts';
import { seededRandom, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { Lines, Scene, pod } from './scene.ts';
import type { Pod } from './scene.ts';

const EVENTS = 3000;
const NAMES = 40;

type Random = () => number;

/** Records the last delivery of each object, and rejects an impossible next one. */
class Follower extends Lines {
  readonly present: Set<string> = new Set();
  readonly wrong: string[] = [];

  constructor(react: () => unknown) {
    super((line) => {
      this.#follow(line);
      return react();
    });
  }

  #follow(line: string): void {
    const [what = '', name = ''] = line.split(' ');
    const isAddition = what.startsWith('add');
    if (isAddition === this.present.has(name)) this.wrong.push(line);
    if (isAddition) this.present.add(name);
    if (what === 'delete' || what === 'lost') this.present.delete(name);
  }
}

class Abuse {
  readonly informer: SharedIndexInformer<Pod>;
  readonly #random: Random;
  readonly #members: { readonly follower: Follower; readonly registration: HandlerRegistration }[] = [];
  readonly all: Follower[] = [];
  removed = 0;

  constructor(informer: SharedIndexInformer<Pod>, random: Random) {
    this.informer = informer;
    this.#random = random;
  }

  get members(): readonly { readonly follower: Follower; readonly registration: HandlerRegistration }[] {
    return this.#members;
  }

  addOrRemove(): void {
    if (this.#random() < 0.55 || this.#members.length === 0) this.#add();
    else this.#remove();
  }

  #add(): void {
    const follower = new Follower(() => this.#react());
    this.all.push(follower);
    const resyncPeriodMs = this.#random() < 0.5 ? 1000 : 0;
    this.#members.push({
      follower,
      registration: this.informer.addEventHandler(follower, { resyncPeriodMs }),
    });
  }

  #remove(): void {
    const [member] = this.#members.splice(Math.floor(this.#random() * this.#members.length), 1);
    if (!member) return;
    this.removed++;
    this.informer.removeEventHandler(member.registration, { drain: this.#random() < 0.3 });
    if (this.#random() < 0.2) this.informer.removeEventHandler(member.registration);
  }

  #react(): unknown {
    const chance = this.#random();
    if (chance < 0.001 && this.#members.length < 100) this.addOrRemove();
    if (chance > 0.999) throw new Error('now and then');
    return chance > 0.99 ? new Promise(setImmediate) : undefined;
  }
}

function change({ source }: Scene, random: Random): void {
  const known = source.items();
  const one = known[Math.floor(random() * known.length)];
  const chance = random();
  if (!one || (chance < 0.3 && known.length < NAMES)) {
    const name = `p${Math.floor(random() * NAMES)}`;
    if (!known.some(({ metadata }) => metadata.name === name)) source.add(pod(name));
  } else if (chance < 0.7) source.modify(one);
  else if (chance < 0.95) source.delete(one);
  else if (chance < 0.96) source.deleteDropWatch(one);
  else if (chance < 0.97) source.resetWatch();
}

describe('handlers that come and go during random changes', () => {
  for (const seed of [1, 2, 3]) {
    test(`C7 C8 C9 each receive a consistent history, nothing locks up, and only a stopped informer refuses (seed ${seed})`, async () => {
      await using scene = new Scene();
      const random = seededRandom(seed);
      const informer = scene.informer({ resyncPeriodMs: 1000 });
      const abuse = new Abuse(informer, random);
      for (let count = 0; count < 10; count++) abuse.addOrRemove();
      await scene.started(informer);
      for (let event = 0; event < EVENTS; event++) {
        change(scene, random);
        if (random() < 0.1) abuse.addOrRemove();
        if (random() < 0.02) scene.clock.advance(300);
        if (random() < 0.05) await new Promise(setImmediate);
      }
      // What was dropped from the watch must be found by a relist.
      await scene.relisted(informer);
      const there = scene.source.items().map(({ metadata }) => metadata.name);
      for (const { follower, registration } of abuse.members) {
        assert.deepEqual([...follower.present].sort(), there.sort());
        assert.ok(registration.hasSynced());
        assert.deepEqual(registration.backlog, { notifications: 0, bytes: 0, ageMs: 0 });
      }
      assert.ok(abuse.removed > 50 && abuse.members.length > 10, `${abuse.removed}, ${abuse.members.length}`);
      assert.deepEqual(
        abuse.all.flatMap(({ wrong }) => wrong),
        [],
      );
      assert.ok(scene.reported.every(({ code, message }) => code !== '' || message === 'now and then'));
      // Changes on their way, calls in progress, handlers joining: and stop.
      for (let event = 0; event < 50; event++) change(scene, random);
      abuse.addOrRemove();
      await informer.shutdown();
      const told = abuse.all.map(({ lines }) => lines.length);
      assert.throws(() => informer.addEventHandler({ onAdd: () => undefined }), {
        code: 'ERR_KUBELOOM_STOPPED',
      });
      for (const { registration } of abuse.members) informer.removeEventHandler(registration);
      await new Promise(setImmediate);
      assert.deepEqual(
        abuse.all.map(({ lines }) => lines.length),
        told,
        'nothing more after the end',
      );
    });
  }
});

test('C9 a handler that is added at the same time as the informer starts receives everything once', async () => {
  await using scene = new Scene();
  const informer = scene.informer();
  for (let count = 0; count < 5; count++) scene.source.add(pod(`p${count}`));
  void informer.run();
  const followers: Follower[] = [];
  for (let count = 0; count < 20; count++) {
    const follower = new Follower(() => undefined);
    followers.push(follower);
    informer.addEventHandler(follower);
    await new Promise(setImmediate);
  }
  await settled(informer);
  for (const { lines } of followers) {
    assert.deepEqual(
      [...lines].sort(),
      [0, 1, 2, 3, 4].map((count) => `add! p${count}`),
    );
  }
});
