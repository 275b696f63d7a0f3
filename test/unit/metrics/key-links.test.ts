/** Links of the keys of work queues. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { SpanContext } from '@opentelemetry/api';

import { KeyLinks, LINKS_MAX } from '../../../src/metrics/key-links.ts';

const QUEUE = {};
const span = (number: number): SpanContext => ({ traceId: 'trace', spanId: `span ${number}`, traceFlags: 1 });

function linked(links: KeyLinks, queue: object, key: string): string[] {
  return links.inWork(queue, key).map(({ context }) => context.spanId);
}

describe('the links of a key', () => {
  test('last until the work on the key has ended', () => {
    const links = new KeyLinks();
    links.add(QUEUE, 'a', span(1));
    links.add(QUEUE, 'a', span(2));
    assert.deepEqual(linked(links, QUEUE, 'a'), [], 'the key waits');
    links.take(QUEUE, 'a');
    assert.deepEqual(linked(links, QUEUE, 'a'), ['span 1', 'span 2']);
    assert.deepEqual(linked(links, {}, 'a'), [], 'another queue');
    links.done(QUEUE, 'a');
    assert.deepEqual(linked(links, QUEUE, 'a'), []);
  });

  test('that are added during the work belong to the next work on the key', () => {
    const links = new KeyLinks();
    links.add(QUEUE, 'a', span(1));
    links.take(QUEUE, 'a');
    links.add(QUEUE, 'a', span(2));
    assert.deepEqual(linked(links, QUEUE, 'a'), ['span 1']);
    links.done(QUEUE, 'a');
    links.take(QUEUE, 'a');
    assert.deepEqual(linked(links, QUEUE, 'a'), ['span 2']);
  });

  test('name each span once, and are bounded', () => {
    const links = new KeyLinks();
    for (let number = 0; number < LINKS_MAX; number++) {
      assert.ok(links.hasRoom(QUEUE, 'a'));
      links.add(QUEUE, 'a', span(number));
      links.add(QUEUE, 'a', span(number));
    }
    assert.ok(!links.hasRoom(QUEUE, 'a'));
    links.add(QUEUE, 'a', span(LINKS_MAX));
    links.take(QUEUE, 'a');
    assert.equal(links.inWork(QUEUE, 'a').length, LINKS_MAX);
    assert.ok(links.hasRoom(QUEUE, 'a'));
  });
});
