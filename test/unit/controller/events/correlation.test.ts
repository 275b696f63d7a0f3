/** client-go's rules for counting, combining and dropping events. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventCorrelation } from '../../../../src/controller/events/correlation.ts';
import type { CountedEvent, Occurrence } from '../../../../src/controller/events/correlation.ts';

const type = { apiVersion: 'v1', kind: 'Pod' };
const subject = { ...type, namespace: 'default', name: 'a', uid: 'u', resourceVersion: '1' };

class Story {
  readonly #correlation = new EventCorrelation();
  atMs = 0;

  record(message: string, more: Partial<Occurrence> = {}): CountedEvent | undefined {
    const wall = new Date(Date.UTC(2026, 0, 1) + this.atMs);
    const occurrence: Occurrence = { subject, type: 'Normal', reason: 'Started', message, ...more };
    return this.#correlation.correlate(occurrence, { atMs: this.atMs, wall });
  }
}

describe('events', () => {
  it('that are equal are counted in the object of the first', () => {
    const story = new Story();
    const first = story.record('one');
    story.atMs = 61_000;
    assert.deepEqual(story.record('one'), {
      ...first,
      count: 2,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:01:01Z',
    });
    assert.match(first?.name ?? '', /^a\.[0-9a-f]+$/);
  });

  it('that differ in reason, type, message or object are separate objects', () => {
    const story = new Story();
    const all = [
      story.record('one'),
      story.record('two'),
      story.record('one', { reason: 'Stopped' }),
      story.record('one', { type: 'Warning' }),
      story.record('one', { subject: { ...subject, uid: 'v' } }),
    ];
    assert.ok(all.every((event) => event?.count === 1));
    assert.equal(new Set(all.map((event) => event?.name)).size, 5);
  });

  it('are combined from the tenth message within 10 minutes on, and counted', () => {
    const story = new Story();
    const messages = Array.from({ length: 12 }, (_, index) => story.record(`message ${index}`));
    assert.deepEqual(
      messages.slice(8).map((event) => [event?.message, event?.count]),
      [
        ['message 8', 1],
        ['(combined from similar events): message 9', 1],
        ['(combined from similar events): message 10', 2],
        ['(combined from similar events): message 11', 3],
      ],
    );
    assert.equal(messages[9]?.name, messages[11]?.name);
  });

  it('are not combined when the last similar one is more than 10 minutes old', () => {
    const story = new Story();
    for (let index = 0; index < 9; index++) story.record(`message ${index}`);
    story.atMs = 600_000;
    assert.match(story.record('on time')?.message ?? '', /^\(combined/);
    story.atMs += 600_001;
    assert.equal(story.record('late')?.message, 'late');
  });

  it('about one object are dropped after 25, with one more every 5 minutes', () => {
    const story = new Story();
    const written = (): number =>
      Array.from({ length: 30 }, () => story.record('again')).filter((event) => event).length;
    assert.equal(written(), 25);
    assert.ok(story.record('again', { subject: { ...subject, name: 'b' } }), 'another object has its own');
    story.atMs += 299_999;
    assert.equal(written(), 0);
    story.atMs += 1;
    assert.equal(written(), 1);
    story.atMs += 24 * 3_600_000;
    assert.equal(written(), 25);
  });

  it('that were dropped count when the next one is written', () => {
    const story = new Story();
    for (let index = 0; index < 30; index++) story.record('again');
    story.atMs = 300_000;
    assert.equal(story.record('again')?.count, 31);
  });

  it('C313 have names that a server accepts for objects with long names', () => {
    const event = new Story().record('one', { subject: { ...subject, name: 'n'.repeat(253) } });
    assert.ok(event && event.name.length <= 253);
    for (const name of ['system:node', 'Viewer', `${'a'.repeat(235)}-b`]) {
      const other = new Story().record('one', { subject: { ...subject, name } });
      assert.match(other?.name ?? '', /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
    }
  });
});
