/**
 * Where everything in a ring's memory is. No other file knows an offset.
 *
 * ```
 *  byte 0            128           256                                   256 + capacity
 *  ┌────────────────┬─────────────┬─────────────────────────────────────┐
 *  │ tail           │ head        │ data                                │
 *  └────────────────┴─────────────┴─────────────────────────────────────┘
 *
 *  a record in data, aligned to 8 bytes, never split by the end of data:
 *   0                   4                   8
 *  ┌───────────────────┬───────────────────┬──────────────── ─ ─ ┐
 *  │ length (bytes,    │ type              │ payload             │
 *  │ header included)  │ (PADDING = 0)     │                     │
 *  └───────────────────┴───────────────────┴──────────────── ─ ─ ┘
 * ```
 *
 * | word | writer | meaning |
 * |---|---|---|
 * | tail | producer | position after the last published record |
 * | head | consumer | position after the last released record |
 *
 * Positions are u32 byte counts that only grow and wrap; the place in data is `position & (capacity - 1)`.
 * A record that would cross the end of data is preceded by a PADDING record that fills the rest.
 */
import { WORD_BYTES } from './word.ts';

export const TAIL_LINE = 0;
export const HEAD_LINE = 1;
export const DATA_OFFSET: number = 2 * WORD_BYTES;

export const RECORD_ALIGNMENT = 8;
export const RECORD_HEADER_BYTES = 8;
export const LENGTH_WORD = 0;
export const TYPE_WORD = 1;
export const PADDING_TYPE = 0;
/** A record that its producer published and died before it was good: stepped over (see void-records.ts). */
export const VOID_TYPE = -1;

export const CAPACITY_MIN_BYTES = 1024;
/** Half of the u32 circle, so that `compareU32` can tell full from empty. */
export const CAPACITY_MAX_BYTES: number = 2 ** 30;

export function recordLength(payloadBytes: number): number {
  return (payloadBytes + RECORD_HEADER_BYTES + RECORD_ALIGNMENT - 1) & ~(RECORD_ALIGNMENT - 1);
}

/** A record may take at most an eighth of the ring: padding can then never make it unwritable. */
export function payloadBytesMax(capacity: number): number {
  return capacity / 8 - RECORD_HEADER_BYTES;
}
