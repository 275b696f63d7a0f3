/** The progress of a list, as it is reported to the main thread. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListingProgress } from '../../../src/shared/protocol.ts';
import { END, Harness, bookmark, event, list, pod } from './harness.ts';

function progress(harness: Harness): ListingProgress[] {
  return harness.messages.flatMap((message) => {
    if (message.type !== 'progress') return [];
    const { type: _type, informer: _informer, ...told } = message;
    return [told];
  });
}

function page(items: number, token?: string, remainingItemCount?: number): string {
  const pods = Array.from({ length: items }, (_, index) => pod(`p${index}`, '5'));
  const text = list('10', pods, token);
  return remainingItemCount === undefined
    ? text
    : text.replace('"metadata":{', `"metadata":{"remainingItemCount":${remainingItemCount},`);
}

describe('a list', () => {
  it('C120 reports its items and bytes, at most every 100 ms and at its end', () => {
    const harness = new Harness().start();
    const body = page(10);
    const half = body.length >> 1;
    harness.exchange.head();
    for (let at = 0; at < half; at += 10) harness.exchange.send(body.slice(at, Math.min(at + 10, half)));
    assert.deepEqual(progress(harness), []);
    harness.clock.advance(100);
    harness.exchange.send(body.slice(half, half + 1));
    const [first, ...others] = progress(harness);
    assert.equal(first?.bytes, half + 1);
    assert.ok(first.items > 0 && first.items < 10);
    assert.deepEqual(others, []);
    harness.exchange.send(body.slice(half + 1)).end();
    assert.deepEqual(progress(harness).slice(1), [{ items: 10, bytes: body.length }]);
  });

  it('adds up its pages, and reports the expected items once the server has sent the count', () => {
    const harness = new Harness().start();
    const pages = [page(4, 'one', 6), page(4, 'two', 3), page(2)];
    for (const text of pages) {
      harness.clock.advance(100);
      harness.exchange.head().send(text).end();
    }
    assert.deepEqual(
      progress(harness).map(({ items, expectedItems }) => [items, expectedItems]),
      [
        [8, 10],
        [10, 11],
        [10, 10],
      ],
    );
    assert.equal(progress(harness).at(-1)?.bytes, pages.join('').length);
  });

  it('begins at zero when it is repeated', () => {
    const harness = new Harness().start();
    harness.exchange.head().send(page(5)).reset();
    harness.clock.advance(800);
    harness.exchange.head().send(page(3)).end();
    assert.deepEqual(
      progress(harness).map(({ items }) => items),
      [3],
    );
  });
});

describe('a streaming list', () => {
  it('reports its items and bytes, and nothing once it is a watch', () => {
    const harness = new Harness().start({ watchList: 'auto' });
    const watch = harness.exchange.head();
    watch.sendEvents(event('ADDED', 'a', '9'));
    harness.clock.advance(100);
    watch.sendEvents(event('ADDED', 'b', '8'), event('MODIFIED', 'a', '10'));
    watch.sendEvents(bookmark('20', END));
    harness.clock.advance(100);
    watch.sendEvents(event('ADDED', 'c', '21'));
    assert.deepEqual(
      progress(harness).map(({ items }) => items),
      [2, 2],
    );
  });
});
