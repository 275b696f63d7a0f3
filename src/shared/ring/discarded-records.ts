/**
 * Discards records that a dead producer published but did not commit (a reflector publishes ring by ring, and
 * then stores `committed`), so that the consumer skips them and the successor can write them again.
 *
 * The tail does not move back: the consumer may have read it already, and would read on into records of the
 * successor. A consumer may read a record while it is discarded: it takes only committed records, and reads the
 * record again, type included, when more are committed.
 */
import { assert } from '../../base/errors.ts';
import { LENGTH_WORD, PADDING_TYPE, RECORD_HEADER_BYTES, TYPE_WORD, DISCARDED_TYPE } from './layout.ts';
import type { RingMemory } from './ring.ts';

/**
 * @param isDiscarded called with the offset of each record's payload
 * @returns number of discarded records
 */
export function discardRecords(memory: RingMemory, isDiscarded: (offset: number) => boolean): number {
  const { words, capacity } = memory;
  const tail = memory.tail.load();
  let position = memory.head.load();
  let count = 0;
  while (position !== tail) {
    const place = position & (capacity - 1);
    const word = place >> 2;
    if ((words[word + TYPE_WORD] ?? 0) > PADDING_TYPE && isDiscarded(place + RECORD_HEADER_BYTES)) {
      words[word + TYPE_WORD] = DISCARDED_TYPE;
      count++;
    }
    const length = words[word + LENGTH_WORD] ?? 0;
    assert(length >= RECORD_HEADER_BYTES && length <= capacity, 'a record of impossible length');
    position = (position + length) >>> 0;
  }
  return count;
}
