/**
 * Layout of a ring's memory. All offsets are in this file.
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

export const CAPACITY_MIN_BYTES = 1024;
/** Half of the u32 range, so that `compareU32` can distinguish full from empty. */
export const CAPACITY_MAX_BYTES: number = 2 ** 30;

/** A record takes at most a quarter of the ring, and so does the padding before it: both fit into an empty ring. */
export const RECORDS_PER_RING_MIN = 4;
