/** A million keys: speed and memory of the design. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyTable, NO_ID } from '../../../src/indexer/key-table.ts';
import { KeyHash } from '../../../src/shared/record/key-hash.ts';

const HASH = new KeyHash(Int32Array.of(1, 2));

const KEYS = 1_000_000;

test('a million keys are found, half of them are removed, and new keys take their ids', () => {
  const table = new KeyTable();
  const bytes = Buffer.alloc(64);
  const place = (number: number) => {
    const nameLength = bytes.write(`web-${number}-7d9c5b8f6d-x`, 20);
    const namespaceLength = bytes.write(`team-${number % 50}`, 0);
    const namespace = { bytes, start: 0, end: namespaceLength };
    const hash = HASH.of(namespace, { bytes, start: 20, end: 20 + nameLength });
    return { hash, offset: 0, namespaceOffset: 0, namespaceLength, nameOffset: 20, nameLength };
  };
  const find = (number: number): number => table.find(bytes, place(number));
  const insert = (number: number): number => table.insert(bytes, place(number));
  for (let number = 0; number < KEYS; number++) assert.equal(insert(number), number);
  for (let number = 0; number < KEYS; number++) assert.equal(find(number), number);
  assert.ok(table.memoryBytes < 100 * KEYS, `${table.memoryBytes / KEYS} bytes a key`);
  for (let number = 0; number < KEYS; number += 2) table.remove(find(number));
  for (let number = 0; number < KEYS; number++) assert.equal(find(number), number % 2 === 0 ? NO_ID : number);
  const before = table.memoryBytes;
  for (let number = 0; number < KEYS; number += 2) insert(KEYS + number);
  assert.equal(table.idEnd, KEYS, 'ids are reused');
  assert.equal(table.memoryBytes, before, 'and so is memory');
});
