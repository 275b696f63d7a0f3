/**
 * Messages between the main thread and a thread that reads its caches: memory, and the two that begin and break the link.
 * Everything else is a record in the ring, in its order. A record names memory only after the message about it was sent, and the reader takes messages when a record names
 * memory that it does not have.
 */
import type { ErrorMessage } from '../../base/errors.ts';
import { BELL_LINES } from '../../shared/ring/bell.ts';
import { allocateRing } from '../../shared/ring/ring.ts';
import { allocateWords } from '../../shared/ring/word.ts';

/** Version of the records and messages: both threads must have the same. */
export const PORT_VERSION = 2;

export type ToReader =
  | { readonly type: 'memory'; readonly number: number; readonly memory: SharedArrayBuffer }
  /** No row is in the memory any more. */
  | { readonly type: 'forget'; readonly number: number }
  /** The thread makes its V8 collect the memory that it has forgotten. */
  | { readonly type: 'collect' }
  | { readonly type: 'structures'; readonly decoder: number; readonly record: Uint8Array }
  /** The main thread delivers from now on. */
  | { readonly type: 'opened' }
  /** The link cannot go on: the thread shall close the port, whatever is in the ring. */
  | { readonly type: 'broken'; readonly error: ErrorMessage };

export type FromReader =
  | { readonly type: 'open' }
  /** The ring has room again, or rows were returned. */
  | { readonly type: 'progress' };

/** Absence of a memory, where the number of a memory is expected. */
export const NO_MEMORY = -1;

/** Shared memory of one thread that reads. */
export interface LinkMemory {
  /** Ring of states, from the main thread. */
  readonly states: SharedArrayBuffer;
  /** Ring of returned rows, to the main thread. */
  readonly returned: SharedArrayBuffer;
  readonly words: SharedArrayBuffer;
}

/** The reader's bell comes first. */
export const BELL_LINE = 0;
/** 1 while the main thread waits for room in the ring of states, or for rows that the thread returns. */
export const WAITING_LINE: number = BELL_LINES;
/** 1 since a thread has opened the port: a ring has one reader. */
export const OPENED_LINE: number = BELL_LINES + 1;

/** A state without its bytes takes about 400. */
const STATES_BYTES: number = 2 ** 20;
const RETURNED_BYTES: number = 2 ** 16;

export function allocateLink(statesBytes: number = STATES_BYTES): LinkMemory {
  return {
    states: allocateRing(statesBytes),
    returned: allocateRing(RETURNED_BYTES),
    words: allocateWords(BELL_LINES + 2),
  };
}
