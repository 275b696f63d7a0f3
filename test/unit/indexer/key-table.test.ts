/** The key table compared with a Map, through growth, churn, collisions and compaction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyArena, KeyTable, NO_ID } from '../../../src/indexer/key-table.ts';
import { KeyHash } from '../../../src/shared/record/key-hash.ts';
import { seededRandom, wholeNumber } from '../shared/ring/random.ts';

const HASH = new KeyHash(Int32Array.of(1, 2));

/** The table with keys as strings. */
class TextTable {
  readonly table: KeyTable = new KeyTable();
  readonly #hashMask: number;

  constructor(hashMask = -1) {
    this.#hashMask = hashMask;
  }

  find(namespace: string, name: string): number {
    const key = this.#place(namespace, name);
    return this.table.find(key.bytes, key);
  }

  insert(namespace: string, name: string): number {
    const key = this.#place(namespace, name);
    return this.table.insert(key.bytes, key);
  }

  /** Places the name apart from the namespace, as in a log. */
  #place(namespace: string, name: string) {
    const head = Buffer.from(namespace);
    const tail = Buffer.from(name);
    const hash = HASH.of(
      { bytes: head, start: 0, end: head.length },
      { bytes: tail, start: 0, end: tail.length },
    );
    return {
      hash: hash & this.#hashMask,
      bytes: Buffer.concat([Buffer.from('???'), head, Buffer.from('"...'), tail, Buffer.from('!')]),
      offset: 1,
      namespaceOffset: 2,
      namespaceLength: head.length,
      nameOffset: 2 + head.length + 4,
      nameLength: tail.length,
    };
  }
}

test('random inserts and removals agree with a Map, also when all hashes collide', () => {
  for (const [seed, hashMask] of [-1, -1, 7, 0].entries()) {
    const random = seededRandom(seed);
    const keys = new TextTable(hashMask);
    const model = new Map<string, number>();
    const steps = hashMask === -1 ? 30_000 : 3_000;
    const variety = hashMask === -1 ? 3_000 : 300;
    for (let step = 0; step < steps; step++) {
      // Phases of growth and of shrinking, so that ids, cells and blocks are reused.
      const wantsRemoval = random() < (step % 8_000 < 4_000 ? 0.3 : 0.7);
      const number = wholeNumber(random, 0, variety);
      const namespace = number % 3 === 0 ? '' : `ns-${number % 7}`;
      const name = `${'x'.repeat(number % 40)}-${number}`;
      const key = `${namespace}/${name}`;
      const id = model.get(key);
      assert.equal(keys.find(namespace, name), id ?? NO_ID, `seed ${seed} step ${step} ${key}`);
      if (id === undefined && !wantsRemoval) {
        const added = keys.insert(namespace, name);
        assert.ok(![...(step % 100 === 0 ? model.values() : [])].includes(added), 'an id is given once');
        model.set(key, added);
      } else if (id !== undefined && wantsRemoval) {
        keys.table.remove(id);
        model.delete(key);
      }
    }
    assert.equal(new Set(model.values()).size, model.size);
    for (const [key, id] of model) {
      const slash = key.indexOf('/');
      assert.equal(keys.find(key.slice(0, slash), key.slice(slash + 1)), id);
    }
  }
});

test('namespace a with name b is not the cluster-scoped a/b, nor any other split of the same bytes', () => {
  const keys = new TextTable(0);
  const ids = [keys.insert('a', 'bc'), keys.insert('ab', 'c'), keys.insert('', 'abc')];
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual([keys.find('a', 'bc'), keys.find('ab', 'c'), keys.find('', 'abc')], ids);
  assert.equal(keys.find('abc', ''), NO_ID);
  assert.equal(keys.find('a', 'b'), NO_ID);
});

test('the id that was freed last is used first, and ids stay dense', () => {
  const keys = new TextTable();
  for (let number = 0; number < 10; number++) assert.equal(keys.insert('n', `k${number}`), number);
  for (const id of [3, 7, 5]) keys.table.remove(id);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => keys.insert('n', name)),
    [5, 7, 3, 10],
  );
  assert.equal(keys.table.idEnd, 11);
});

test('freed blocks are used again, the last one first, each once', () => {
  const arena = new KeyArena();
  const places = [9, 16, 10, 12].map((length) => arena.allocate(length));
  for (const place of places) arena.free(place, 10);
  assert.deepEqual(
    places.map(() => arena.allocate(15)),
    places.toReversed(),
  );
  assert.equal(new Set([...places, arena.allocate(16)]).size, 5);
});

test('memory stays bounded while keys of new lengths come and go, and other keys survive the compaction', () => {
  const keys = new TextTable();
  const kept = Array.from({ length: 50 }, (_, number) => keys.insert('n', `keep-${number}`));
  let memoryMax = 0;
  for (let round = 0; round < 200; round++) {
    // Every round needs block sizes that the rounds before have not freed.
    const name = (number: number): string => `${number}`.padEnd(20 + 4 * round, 'x');
    const ids = Array.from({ length: 100 }, (_, number) => keys.insert('n', name(number)));
    assert.equal(keys.find('n', name(42)), ids[42]);
    for (const id of ids) keys.table.remove(id);
    memoryMax = Math.max(memoryMax, keys.table.memoryBytes);
  }
  assert.ok(memoryMax < 400_000, `${memoryMax} bytes for at most 150 keys of up to 820 bytes`);
  for (const [number, id] of kept.entries()) assert.equal(keys.find('n', `keep-${number}`), id);
});

test('keys beyond the first chunks of records and bytes are found, freed and inserted again', () => {
  const keys = new TextTable();
  const count = 40_000;
  for (let number = 0; number < count; number++) assert.equal(keys.insert('n', `key-${number}`), number);
  for (let number = 0; number < count; number++) assert.equal(keys.find('n', `key-${number}`), number);
  const { memoryBytes } = keys.table;
  for (let number = 0; number < count; number += 2) keys.table.remove(number);
  for (let number = count - 2; number >= 0; number -= 2)
    assert.equal(keys.insert('m', `key-${number}`), number);
  for (let number = 0; number < count; number++) {
    assert.equal(keys.find(number % 2 === 0 ? 'm' : 'n', `key-${number}`), number);
    assert.equal(keys.find(number % 2 === 0 ? 'n' : 'm', `key-${number}`), NO_ID);
  }
  assert.equal(keys.table.memoryBytes, memoryBytes);
});
