/**
 * Messages between the main thread and a thread that reads its caches: memory, and the messages that begin and break
 * the link. Everything else is a record in the ring, in order. The main thread sends a memory before the record that
 * names it; the reader takes messages when a record names an unknown memory.
 */
import type { ErrorMessage } from '../base/errors.ts';
import { BELL_LINES } from '../shared/ring/bell.ts';
import { allocateRing } from '../shared/ring/ring.ts';
import { allocateWords } from '../shared/ring/word.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { DeclarativeIndex, ModuleIndex } from '../replica/store/index-functions.ts';

/** The settings of an informer for the caches in other threads. */
export interface SharedInformerSpec {
  /** Name under which a thread requests the informer. */
  readonly key: string;
  readonly resource: ResourceRef;
  /** Name in messages. */
  readonly name: string;
  readonly fields: readonly string[];
  /** Indexes that are data. Functions stay on the main thread. */
  readonly indexers: Readonly<Record<string, DeclarativeIndex | ModuleIndex>>;
  readonly objectBytesMax: number;
}

/** Version of the records and messages; both threads must use the same version. */
export const PORT_VERSION = 3;

export type ToReader =
  | { readonly type: 'memory'; readonly number: number; readonly memory: SharedArrayBuffer }
  /** The memory no longer contains rows. */
  | { readonly type: 'forget'; readonly number: number }
  /** The thread makes V8 collect the memory that it dropped. */
  | { readonly type: 'collect' }
  | { readonly type: 'structures'; readonly decoder: number; readonly record: Uint8Array }
  /** The main thread delivers from now on. */
  | { readonly type: 'opened' }
  /** The link is broken: the thread must close the port, whatever is in the ring. */
  | { readonly type: 'broken'; readonly error: ErrorMessage };

export type FromReader =
  | { readonly type: 'open' }
  /** The ring has room again, or rows were returned. */
  | { readonly type: 'progress' };

/** Absence of a memory, where the number of a memory is expected. */
export const NO_MEMORY = -1;

/** Shared memory of a reading thread. */
export interface LinkMemory {
  /** Ring of states, from the main thread. */
  readonly states: SharedArrayBuffer;
  /** Ring of returned rows, to the main thread. */
  readonly returned: SharedArrayBuffer;
  readonly words: SharedArrayBuffer;
}

/** The reader's bell comes first. */
export const BELL_LINE = 0;
/** 1 while the main thread waits for room in the ring of states, or for returned rows. */
export const WAITING_LINE: number = BELL_LINES;
/** 1 after a thread opened the port: a ring allows a single reader. */
export const OPENED_LINE: number = BELL_LINES + 1;
/** 1 after the main thread closed the link: a port closes silently before it has a listener. */
export const CLOSED_LINE: number = BELL_LINES + 2;

/** The record of a state, without the object's bytes, takes about 400 bytes. */
const STATES_BYTES: number = 2 ** 20;
const RETURNED_BYTES: number = 2 ** 16;

export function allocateLink(statesBytes: number = STATES_BYTES): LinkMemory {
  return {
    states: allocateRing(statesBytes),
    returned: allocateRing(RETURNED_BYTES),
    words: allocateWords(BELL_LINES + 3),
  };
}
