/** A link: which caches a turn asks, what it does when the ring is full, and the order of ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeloomError } from '../../../../src/base/errors.ts';
import { WAITING_LINE, allocateLink } from '../../../../src/thread/messages.ts';
import type { LinkMemory } from '../../../../src/thread/messages.ts';
import { ReaderLink } from '../../../../src/thread/main/reader-link.ts';
import type { LinkedCache, Written } from '../../../../src/thread/main/reader-link.ts';
import { ExportRingReader } from '../../../../src/thread/worker/export-ring-reader.ts';
import { RowKind } from '../../../../src/shared/record/row.ts';
import type { RowWriter } from '../../../../src/shared/record/row.ts';
import { Word } from '../../../../src/shared/ring/word.ts';

const RING_BYTES = 4096;

class FakeCache implements LinkedCache {
  readonly exportedCount = 0;
  asked = 0;
  result: () => Written = () => 'all';

  rowsReturned(): void {
    throw new Error('no row was exported');
  }

  write(): Written {
    this.asked++;
    return this.result();
  }

  fail(): void {
    this.asked = -1;
  }

  close(): void {
    this.asked = -1;
  }

  release(): boolean {
    return false;
  }
}

interface Scene {
  readonly link: ReaderLink;
  readonly memory: LinkMemory;
  readonly caches: readonly FakeCache[];
  readonly broken: KubeloomError[];
  /** Takes what is in the ring, as the thread does. */
  readonly read: () => string[];
}

function scene(count: number): Scene {
  const memory = allocateLink(RING_BYTES);
  const broken: KubeloomError[] = [];
  const link = new ReaderLink(memory, { post: () => undefined, broken: (error) => broken.push(error) });
  const caches = Array.from({ length: count }, () => new FakeCache());
  for (const [informer, cache] of caches.entries()) link.add(informer, cache);
  const taken: string[] = [];
  const merger = new ExportRingReader({
    memory,
    progress: () => undefined,
    stopped: (informer, failure) => taken.push(`stopped ${informer} ${failure?.message ?? ''}`),
    closed: () => taken.push('closed'),
    broken: (error) => {
      throw error;
    },
  });
  const read = (): string[] => {
    merger.merge(Infinity);
    merger.publish();
    return taken.splice(0);
  };
  return { link, memory, caches, broken, read };
}

function isAnnounced({ memory }: Scene): boolean {
  return new Word(new Int32Array(memory.words), WAITING_LINE).load() !== 0;
}

/** Fills the ring with versions. */
function fill({ link }: Scene): void {
  const writer = link.newWriter();
  while (link.writeMark(writer, RowKind.Position, 9, '1'));
  assert.ok(link.isWaiting);
}

test('a turn asks the caches that have something to write, and no others', () => {
  const { link, caches } = scene(40);
  for (let turn = 0; turn < 10; turn++) {
    if (caches[7]) link.want(caches[7]);
    link.runOnce();
  }
  assert.equal(caches[7]?.asked, 10);
  assert.equal(
    caches.reduce((sum, { asked }) => sum + asked, 0),
    10,
  );
});

test('a cache that waits for calls is asked in every turn, and one that has no room keeps its place before the others', () => {
  const at = scene(3);
  const { link, caches } = at;
  const [later, full, last] = caches as [FakeCache, FakeCache, FakeCache];
  later.result = () => 'later';
  const writer = link.newWriter();
  full.result = () => (link.writeMark(writer, RowKind.Position, 1, '5') ? 'all' : 'no room');
  for (const cache of caches) link.want(cache);
  fill(at);
  link.runOnce();
  assert.ok(isAnnounced(at));
  assert.equal(last.asked, 0);
  at.read();
  link.runOnce();
  assert.equal(isAnnounced(at), false);
  assert.equal(last.asked, 1);
  const { asked } = later;
  link.runOnce();
  assert.equal(later.asked, asked + 1);
});

test('a cache that waits for rows of the thread does not hold back the others', () => {
  const at = scene(2);
  const [held, other] = at.caches as [FakeCache, FakeCache];
  held.result = () => 'held';
  for (const cache of at.caches) at.link.want(cache);
  at.link.runOnce();
  assert.ok(isAnnounced(at), 'the thread reports rows that it returns');
  assert.ok(other.asked > 0 && !at.link.isWaiting);
});

test('C295 the request to close the port comes after the ends of all informers, however full the ring is', () => {
  const at = scene(2);
  const { link, read } = at;
  fill(at);
  link.finish();
  link.end(0, undefined);
  link.runOnce();
  read();
  link.runOnce();
  assert.deepEqual(read(), ['stopped 0 ']);
  const message = 'x'.repeat(3 * RING_BYTES);
  link.end(1, new KubeloomError('ERR_KUBELOOM_STOPPED', message));
  const taken: string[] = [];
  for (let turn = 0; turn < 20; turn++) {
    link.runOnce();
    taken.push(...read());
  }
  assert.deepEqual(taken, [`stopped 1 ${message}`, 'closed']);
});

test('a text whose record found no room is dropped when the same writer writes another record, not by other writers', () => {
  const at = scene(0);
  const [one, other] = [at.link.newWriter(), at.link.newWriter()];
  const reason = (text: string): Buffer =>
    Buffer.from(JSON.stringify({ code: 'ERR_KUBELOOM_STOPPED', message: text }));
  const long = (letter: string): Buffer => reason(letter.repeat(2 * RING_BYTES));
  const taken: string[] = [];
  const write = (writer: RowWriter, kind: RowKind, informer: number, text: Buffer): void => {
    while (!at.link.writeMark(writer, kind, informer, '', text)) {
      at.link.runOnce();
      taken.push(...at.read());
    }
  };
  assert.equal(at.link.writeMark(one, RowKind.Stopped, 1, '7', long('a')), false);
  at.link.runOnce();
  at.read();
  assert.equal(at.link.writeMark(other, RowKind.Stopped, 2, '', long('b')), false);
  write(one, RowKind.Stopped, 1, reason('short'));
  write(one, RowKind.Stopped, 1, long('c'));
  write(other, RowKind.Stopped, 2, long('b'));
  at.link.runOnce();
  taken.push(...at.read());
  assert.deepEqual(taken, [
    'stopped 1 short',
    `stopped 1 ${'c'.repeat(2 * RING_BYTES)}`,
    `stopped 2 ${'b'.repeat(2 * RING_BYTES)}`,
  ]);
});

test('C298 an error in a turn ends all caches of the link, and none of its later turns does anything', () => {
  const { link, caches, broken } = scene(2);
  const [cache] = caches as [FakeCache, FakeCache];
  cache.result = () => {
    throw new TypeError('a defect');
  };
  link.want(cache);
  link.runOnce();
  assert.equal(broken[0]?.code, 'ERR_KUBELOOM_UNEXPECTED');
  assert.deepEqual(
    caches.map(({ asked }) => asked),
    [-1, -1],
  );
  assert.equal(link.hasRoomForMove, false, 'no row of the thread is moved any more');
  link.runOnce();
  link.close();
  assert.equal(broken.length, 1);
});
