/**
 * For the successor of a producer that died: what the dead one had published although it was not yet good (a
 * reflector publishes ring by ring, and only then says `committed`) is stepped over by the consumer.
 *
 * The tail is not moved back, because the consumer may have seen it already and would read on into whatever the
 * successor writes there. A consumer may look at a record while it is made void: it does not take what is not
 * committed, and looks again, type included, when more is.
 */
import { assert } from '../errors.ts';
import { LENGTH_WORD, PADDING_TYPE, RECORD_HEADER_BYTES, TYPE_WORD, VOID_TYPE } from './layout.ts';
import type { RingMemory } from './ring.ts';

/**
 * @param isVoid told where a record's payload begins
 * @returns how many became void
 */
export function voidRecords(memory: RingMemory, isVoid: (offset: number) => boolean): number {
  const { words, capacity } = memory;
  const tail = memory.tail.load();
  let position = memory.head.load();
  let count = 0;
  while (position !== tail) {
    const place = position & (capacity - 1);
    const word = place >> 2;
    if ((words[word + TYPE_WORD] ?? 0) > PADDING_TYPE && isVoid(place + RECORD_HEADER_BYTES)) {
      words[word + TYPE_WORD] = VOID_TYPE;
      count++;
    }
    const length = words[word + LENGTH_WORD] ?? 0;
    assert(length >= RECORD_HEADER_BYTES && length <= capacity, 'a record of impossible length');
    position = (position + length) >>> 0;
  }
  return count;
}
