/** Tests of the expiration cache. Nothing waits: the tests set the clock. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { ExpirationCache, TTLPolicy, newTTLStore } from '../../../../src/client-go/cache/expiration-cache.ts';
import type { ExpirationPolicy } from '../../../../src/client-go/cache/expiration-cache.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { idOf, pair } from './objects.ts';
import type { Pair } from './objects.ts';

/** Expires all items except the named ones. */
class NamedPolicy implements ExpirationPolicy<Pair> {
  never: readonly string[] = [];

  isExpired({ object }: { readonly object: Pair }): boolean {
    return !this.never.includes(object.id);
  }
}

describe('an expiration cache', () => {
  test('C100 an expired item is not returned, and is removed when it is read', () => {
    const cache = new ExpirationCache(idOf, new NamedPolicy());
    cache.add(pair('foo', 'bar'));
    cache.add(pair('other', 'bar'));
    assert.deepEqual(cache.listKeys(), ['foo', 'other']);
    assert.equal(cache.size, 2);
    assert.equal(cache.get(pair('foo')), undefined);
    assert.equal(cache.getByKey('other'), undefined);
    assert.deepEqual(cache.listKeys(), []);
  });

  test('returns an item that was added again after it had expired', () => {
    const policy = new NamedPolicy();
    const cache = new ExpirationCache(idOf, policy);
    cache.add(pair('foo', 'bar'));
    assert.equal(cache.get(pair('foo')), undefined);
    cache.add(pair('foo', 'different'));
    policy.never = ['foo'];
    assert.deepEqual(cache.getByKey('foo'), pair('foo', 'different'));
  });

  test('C100 list returns the unexpired items and removes the others; listKeys removes nothing', () => {
    const policy = new NamedPolicy();
    policy.never = ['foo1'];
    const cache = new ExpirationCache(idOf, policy);
    cache.replace([pair('foo'), pair('foo1'), pair('foo2')], '1');
    assert.deepEqual(cache.listKeys(), ['foo', 'foo1', 'foo2']);
    assert.deepEqual(cache.list(), [pair('foo1')]);
    assert.deepEqual(cache.listKeys(), ['foo1']);
  });
});

describe('a TTL', () => {
  test('C100 an item expires after its TTL, not exactly at it, and never with a TTL of 0 or less', () => {
    const clock = new FakeClock();
    const entry = (ageMs: number) => ({ key: 'a', object: pair('a'), timestampMs: clock.now() - ageMs });
    const policy = new TTLPolicy(30_000, clock);
    assert.equal(policy.isExpired(entry(0)), false);
    assert.equal(policy.isExpired(entry(30_000)), false);
    assert.equal(policy.isExpired(entry(30_000.5)), true);
    for (const ttlMs of [0, -1]) {
      assert.equal(new TTLPolicy(ttlMs, clock).isExpired(entry(1e12)), false);
    }
  });

  test('the age of an item begins when it is added, and again when it is updated or replaced', () => {
    const clock = new FakeClock();
    const store = newTTLStore(idOf, 100, clock);
    for (const id of ['a', 'b', 'c']) store.add(pair(id));
    clock.advance(60);
    store.update(pair('b'));
    clock.advance(40);
    assert.deepEqual(store.list().map(idOf), ['a', 'b', 'c']);
    clock.advance(1);
    assert.equal(store.getByKey('a'), undefined);
    assert.deepEqual(store.list().map(idOf), ['b']);
    store.replace([pair('b')], '1');
    clock.advance(100);
    assert.deepEqual(store.get(pair('b')), pair('b'));
    clock.advance(1);
    assert.equal(store.get(pair('b')), undefined);
    assert.equal(clock.pending, 0);
  });
});
