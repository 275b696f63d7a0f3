/** Tests of the log against its model under seeded loads, and of its edge cases. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { BLOCK_BYTES, LOG_BYTES_MAX } from '../../../../src/shared/log/log-layout.ts';
import { LOG_FULL, LogWriter, allocateLog } from '../../../../src/shared/log/log.ts';
import { seededRandom, wholeNumber } from '../ring/random.ts';
import { LogTwin } from './log-twin.ts';

const ASSERTION = { code: 'ERR_KUBELOOM_ASSERTION' };
const STARTS: readonly [string, number][] = [
  ['at 0', 0],
  ['just before 2^31', 2 ** 31 - 150],
  ['just before 2^32', 2 ** 32 - 150],
];

/** Returns a length: mostly a good part of a block, sometimes tiny, sometimes several blocks. */
function anyLength(random: Random): number {
  const choice = random();
  if (choice < 0.15) return wholeNumber(random, 1, 200);
  if (choice < 0.85) return wholeNumber(random, 1, BLOCK_BYTES);
  if (choice < 0.9) return BLOCK_BYTES * wholeNumber(random, 1, 3);
  return wholeNumber(random, BLOCK_BYTES, 5 * BLOCK_BYTES);
}

function step(twin: LogTwin, random: Random): void {
  const choice = random();
  if (choice < 0.5) {
    const reserved = anyLength(random);
    twin.write(reserved, random() < 0.3 ? wholeNumber(random, 0, reserved) : reserved);
  } else if (choice < 0.55) twin.cancel(anyLength(random));
  else if (choice < 0.65) twin.skipSequence();
  else if (choice < 0.99) twin.advance(wholeNumber(random, 0, 3));
  else twin.catchUp();
}

describe('the log reserves no byte that a reader has not passed, under seeded loads', () => {
  for (const [name, firstSequence] of STARTS) {
    test(`with sequences that start ${name}`, () => {
      for (let seed = 1; seed <= 10; seed++) {
        const twin = new LogTwin(seed % 2 === 0 ? 8 : 13, firstSequence);
        const random = seededRandom(seed);
        try {
          for (let count = 0; count < 1_000; count++) step(twin, random);
          twin.catchUp();
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
        assert.ok(twin.refusedCount > 10, 'the log was hardly ever full: the test is too weak');
        assert.ok(twin.writtenCount > 200);
      }
    });
  }
});

describe('a full log', () => {
  test('keeps a block until every record in it has been passed, and not longer', () => {
    const twin = new LogTwin(2, 2 ** 32 - 3);
    for (let record = 0; record < 8; record++) assert.ok(twin.write(BLOCK_BYTES / 4));
    twin.advance(3);
    assert.equal(twin.reserve(BLOCK_BYTES / 4), LOG_FULL);
    assert.equal(twin.reserve(BLOCK_BYTES / 4), LOG_FULL, 'a failed reservation does not make room');
    twin.advance(1);
    assert.equal(twin.reserve(BLOCK_BYTES / 4), 0);
  });

  test('frees its blocks in order, also when a younger one is empty', () => {
    const twin = new LogTwin(3, 0);
    twin.write(BLOCK_BYTES);
    twin.cancel(BLOCK_BYTES);
    // The cancelled block lies behind the first: there are no two free blocks in a row.
    assert.equal(twin.write(2 * BLOCK_BYTES), false);
    twin.advance(1);
    assert.ok(twin.write(2 * BLOCK_BYTES));
  });

  test('with a single block accepts record after record when its reader keeps up', () => {
    const twin = new LogTwin(1, 2 ** 31 - 5);
    for (let count = 0; count < 20; count++) {
      assert.ok(twin.write(BLOCK_BYTES));
      assert.equal(twin.reserve(1), LOG_FULL);
      twin.catchUp();
    }
  });
});

describe('a large record', () => {
  test('fits when it is as long as the log and all has been passed, wherever the log stood', () => {
    const twin = new LogTwin(5, 0);
    for (let round = 0; round < 12; round++) {
      assert.ok(twin.write(1 + round * 1_000_000));
      assert.equal(twin.reserve(5 * BLOCK_BYTES), LOG_FULL);
      twin.catchUp();
      assert.ok(twin.write(5 * BLOCK_BYTES));
      twin.catchUp();
    }
  });

  test('never fits when it is longer than the log, and leaves the log usable', () => {
    const twin = new LogTwin(3, 0);
    for (let round = 0; round < 3; round++) {
      assert.equal(twin.reserve(3 * BLOCK_BYTES + 1), LOG_FULL);
      assert.ok(twin.write(BLOCK_BYTES / 4));
      twin.catchUp();
      assert.equal(twin.reserve(3 * BLOCK_BYTES + 1), LOG_FULL);
      assert.ok(twin.write(BLOCK_BYTES / 4));
    }
  });
});

describe('a log that uses the lowest free blocks first', () => {
  test('stays within two blocks when its readers follow closely, also after a backlog', () => {
    const twin = new LogTwin(32, 0);
    const random = seededRandom(7);
    while (twin.write(BLOCK_BYTES));
    twin.catchUp();
    let mostUsedBytes = 0;
    for (let count = 0; count < 3_000; count++) {
      assert.ok(twin.write(wholeNumber(random, 1_000, 100_000)));
      if (count >= 10) twin.advance(1);
      mostUsedBytes = Math.max(mostUsedBytes, twin.writer.usedBytes);
    }
    assert.equal(mostUsedBytes, 2 * BLOCK_BYTES);
  });
});

describe('the log rejects', () => {
  function writer(): LogWriter {
    return new LogWriter(allocateLog(BLOCK_BYTES), { load: () => 0 });
  }

  test('a second reservation before the first is sealed or cancelled, and a seal without one', () => {
    const log = writer();
    assert.throws(() => log.seal(1, 0), ASSERTION);
    log.reserve(8);
    assert.throws(() => log.reserve(8), ASSERTION);
    log.seal(1, 8);
    assert.throws(() => log.seal(2, 0), ASSERTION);
    log.reserve(8);
    log.cancel();
    assert.throws(() => log.seal(2, 8), ASSERTION);
    assert.equal(log.reserve(8), 8);
  });

  test('a seal of more than was reserved: those bytes may belong to the next record', () => {
    const log = writer();
    log.reserve(8);
    assert.throws(() => log.seal(1, 9), ASSERTION);
    assert.throws(() => log.seal(1, -1), ASSERTION);
  });

  test('a reservation of nothing', () => {
    for (const length of [0, -1, Number.NaN]) assert.throws(() => writer().reserve(length), ASSERTION);
  });

  test('a log that is not made of whole blocks or cannot be addressed by u32 offsets', () => {
    for (const bytes of [0, 1, BLOCK_BYTES + 1, -BLOCK_BYTES, LOG_BYTES_MAX + BLOCK_BYTES, Number.NaN]) {
      assert.throws(() => allocateLog(bytes), ASSERTION, `${bytes}`);
    }
  });
});
