/**
 * Random histories of changes and relists, aborted, superseded and completed, through tiny rings with random
 * interleavings of reflector, shard and main thread. The truth is a Map by key, without ids.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../../src/base/clock.ts';
import { DeltaKind } from '../../../src/shared/record/delta.ts';
import type { ShardSpec } from '../../../src/shared/protocol.ts';
import { seededRandom, wholeNumber } from '../shared/ring/random.ts';
import { ShardTwin } from './shard-twin.ts';
import type { ShardTwinOptions } from './shard-twin.ts';

type Texts = Map<string, string>;

/** The server's history as one reflector receives it. */
class Truth {
  live: Texts = new Map();
  shadow: Texts | undefined;
  /** True between an aborted list and the next: no object comes there. */
  isAborted = false;
  epoch = 0;

  begin(): void {
    this.epoch++;
    this.isAborted = false;
    this.shadow = new Map();
  }

  end(): void {
    this.live = this.shadow ?? this.live;
    this.shadow = undefined;
  }
}

class History {
  readonly twin: ShardTwin;
  readonly truth: Truth = new Truth();
  readonly #random: Random;
  readonly #keys: number;
  #version = 0;
  completeRelists = 0;

  constructor(random: Random, keys: number, options: ShardTwinOptions) {
    this.#random = random;
    this.#keys = keys;
    this.twin = new ShardTwin(options);
  }

  /** Offers one record if there is room for it. */
  offer(): void {
    const chance = this.#random();
    const { truth, twin } = this;
    if (chance < 0.02 || truth.isAborted) {
      if (twin.offerControl(DeltaKind.ReplaceBegin, truth.epoch + 1)) truth.begin();
    } else if (chance < 0.03 && truth.shadow) {
      if (!twin.offerControl(DeltaKind.ReplaceAbort, truth.epoch)) return;
      truth.shadow = undefined;
      truth.isAborted = true;
    } else if (chance < 0.06 && truth.shadow) {
      this.#end();
    } else if (chance < 0.08) {
      twin.offerControl(DeltaKind.Bookmark, 0, String(this.#version));
    } else {
      this.#change();
    }
  }

  #end(): void {
    const { truth, twin } = this;
    if (!twin.offerControl(DeltaKind.ReplaceEnd, truth.epoch, String(this.#version))) return;
    truth.end();
    this.completeRelists++;
  }

  #change(): void {
    const { truth, twin } = this;
    const number = wholeNumber(this.#random, 0, this.#keys - 1);
    const namespace = number % 2 === 0 ? '' : `ns-${number % 5}`;
    const name = `object-${number}`;
    const key = namespace === '' ? name : `${namespace}/${name}`;
    const resourceVersion = String(++this.#version);
    const spec = { nodeName: `node-${number % 7}`, text: this.#text() };
    const json = JSON.stringify({ metadata: { name, namespace, uid: `u${number}`, resourceVersion }, spec });
    const target = truth.shadow ?? truth.live;
    const kind = this.#kind(target.has(key));
    if (!twin.offerObject({ kind, namespace, name, resourceVersion, json })) return;
    if (kind === DeltaKind.Deleted) target.delete(key);
    else target.set(key, json);
  }

  /** Mostly a text like others, sometimes one like nothing before, and sometimes one too short or too long to pack. */
  #text(): string {
    const chance = this.#random();
    if (chance < 0.1) return '';
    if (chance < 0.2) return 'long '.repeat(14_000);
    if (chance < 0.3) return Array.from({ length: 300 }, () => Math.floor(this.#random() * 10)).join('');
    return 'a text that all of them have '.repeat(wholeNumber(this.#random, 10, 40));
  }

  /** Chooses a kind; also deletions of absent keys, as a watch that starts late sends them. */
  #kind(isThere: boolean): DeltaKind {
    if (this.#random() < (isThere ? 0.35 : 0.05)) return DeltaKind.Deleted;
    if (this.truth.shadow && this.#random() < 0.8) return DeltaKind.Replaced;
    return isThere ? DeltaKind.Modified : DeltaKind.Added;
  }

  settle(): void {
    const { twin, truth } = this;
    twin.settle();
    assert.deepEqual(twin.main.replica, truth.live);
  }
}

async function run(seed: number, steps: number, keys: number, spec: Partial<ShardSpec>): Promise<History> {
  const random = seededRandom(seed);
  const history = new History(random, keys, {
    inBytes: 1024 << wholeNumber(random, 0, 2),
    outBytes: 4096 << wholeNumber(random, 0, 2),
    logBytes: 256 * 1024,
    sequence: 2 ** 32 - wholeNumber(random, 1, steps),
    ringPosition: 2 ** 32 - 8 * wholeNumber(random, 1, 2000),
    hashMask: random() < 0.3 ? 15 : -1,
  });
  await history.twin.attach(spec);
  for (let step = 0; step < steps; step++) {
    const chance = random();
    if (chance < 0.6) history.offer();
    else if (chance < 0.65) history.twin.publishUncommitted();
    else if (chance < 0.75) history.twin.commit();
    else if (chance < 0.9) history.twin.work(wholeNumber(random, 1, 20));
    else history.twin.merge(wholeNumber(random, 1, 20));
  }
  history.settle();
  return history;
}

test("random histories with relists leave the server's state in the replica, under few ids", async () => {
  let completeRelists = 0;
  let packed = 0;
  for (let seed = 1; seed <= 30; seed++) {
    try {
      const history = await run(seed, 4000, 40, seed % 2 === 0 ? { packBytesMin: 0 } : {});
      completeRelists += history.completeRelists;
      packed += history.twin.main.packed;
      const { idEnd } = history.twin.main;
      assert.ok(idEnd <= 40, `${idEnd} ids for 40 keys`);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  assert.ok(completeRelists > 250, `${completeRelists} relists`);
  assert.ok(packed > 2500, `${packed} packed items`);
});
