/**
 * One table of inputs, and the history that client-go's specification gives for each: what a DeltaFIFO (with Replaced),
 * a RealFIFO and an atomic RealFIFO deliver to their consumer, and the handler calls after the processing. The threaded
 * pipeline has the guarantees of the atomic one; test/unit/client-go/equivalence runs the table against it.
 *
 * `a@2` is object a at version 2; `a@2?` a tombstone with that last known state; `initial` stands for
 * isInInitialList; ` | ` separates pops, and handler calls. `process` runs the consumer until nothing is queued; between
 * two of them all changes accumulate. At the end everything is processed.
 */
import { stepsOf, textsOf } from './notation.ts';
import type { HistoryStep } from './notation.ts';

export interface History {
  readonly title: string;
  readonly steps: readonly HistoryStep[];
  /** Popped deltas, one text for each pop. */
  readonly deltaFifo: readonly string[];
  readonly realFifo: readonly string[];
  readonly atomic: readonly string[];
  /** Handler calls in atomic mode. */
  readonly calls: readonly string[];
  /** Handler calls in the other modes, where they differ. */
  readonly callsByRealFifo?: readonly string[];
  readonly callsByDeltaFifo?: readonly string[];
  /**
   * Handler calls of kubeloom's processing of an atomic RealFIFO, where they differ from client-go's: for a list
   * with a key twice, which no server sends. client-go compares both objects with the state before the list, so
   * handlers receive two additions, or two updates of the same old object. Here the second is an update of the
   * first, as in the other modes.
   */
  readonly callsByPlainInformer?: readonly string[];
  /**
   * Handler calls of the threaded pipeline, which differs twice. A list is one state, so every key in it is
   * delivered once, with its last object. A resync leaves out an object that is deleted before the handler
   * reaches it (contract C44).
   */
  readonly callsByPipeline?: readonly string[];
}

/** A row of the table: the fields of a history as text; `realFifo` only where it differs from `deltaFifo`. */
type Row = { readonly [Field in keyof Omit<History, 'title' | 'realFifo'>]: string } & {
  readonly realFifo?: string;
};

const ROWS: Readonly<Record<string, Row>> = {
  'an empty initial list delivers nothing': {
    steps: 'replace 1 []',
    deltaFifo: '',
    atomic: 'ReplacedAll 1 []',
    calls: '',
  },
  'an initial list is delivered in list order, all of it initial': {
    steps: 'replace 9 [c@1 a@2 b@3]',
    deltaFifo: 'Replaced c@1 | Replaced a@2 | Replaced b@3',
    atomic: 'ReplacedAll 9 [c@1 a@2 b@3]',
    calls: 'add c@1 initial | add a@2 initial | add b@3 initial',
  },
  'changes that follow the initial list before it is processed are not initial': {
    steps: 'replace 5 [a@1 b@2], update a@6, add c@7',
    deltaFifo: 'Replaced a@1, Updated a@6 | Replaced b@2 | Added c@7',
    realFifo: 'Replaced a@1 | Replaced b@2 | Updated a@6 | Added c@7',
    atomic: 'ReplacedAll 5 [a@1 b@2] | Updated a@6 | Added c@7',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@6 | add c@7',
    callsByDeltaFifo: 'add a@1 initial | update a@1 a@6 | add b@2 initial | add c@7',
  },
  'changes after the processed initial list are not initial': {
    steps: 'replace 5 [a@1], process, add b@6, update a@7, delete b@8',
    deltaFifo: 'Replaced a@1 | Added b@6, Deleted b@8 | Updated a@7',
    realFifo: 'Replaced a@1 | Added b@6 | Updated a@7 | Deleted b@8',
    atomic: 'ReplacedAll 5 [a@1] | Added b@6 | Updated a@7 | Deleted b@8',
    calls: 'add a@1 initial | add b@6 | update a@1 a@7 | delete b@8',
    callsByDeltaFifo: 'add a@1 initial | add b@6 | delete b@8 | update a@1 a@7',
  },
  'changes of several objects are delivered in the order of the watch': {
    steps: 'replace 5 [a@1 b@2], process, update b@6, update a@7, update b@8, update a@9',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Updated b@6, Updated b@8 | Updated a@7, Updated a@9',
    realFifo: 'Replaced a@1 | Replaced b@2 | Updated b@6 | Updated a@7 | Updated b@8 | Updated a@9',
    atomic: 'ReplacedAll 5 [a@1 b@2] | Updated b@6 | Updated a@7 | Updated b@8 | Updated a@9',
    calls:
      'add a@1 initial | add b@2 initial | update b@2 b@6 | update a@1 a@7 | update b@6 b@8 | update a@7 a@9',
    callsByDeltaFifo:
      'add a@1 initial | add b@2 initial | update b@2 b@6 | update b@6 b@8 | update a@1 a@7 | update a@7 a@9',
  },
  'a relist deletes the objects that it does not contain': {
    steps: 'replace 5 [a@1 b@2 c@3], process, replace 20 [d@10 b@12]',
    deltaFifo:
      'Replaced a@1 | Replaced b@2 | Replaced c@3 | Replaced d@10 | Replaced b@12 | Deleted a@1? | Deleted c@3?',
    realFifo:
      'Replaced a@1 | Replaced b@2 | Replaced c@3 | Deleted a@1? | Deleted c@3? | Replaced d@10 | Replaced b@12',
    atomic: 'ReplacedAll 5 [a@1 b@2 c@3] | ReplacedAll 20 [d@10 b@12]',
    calls:
      'add a@1 initial | add b@2 initial | add c@3 initial | delete a@1? | delete c@3? | add d@10 | update b@2 b@12',
    callsByDeltaFifo:
      'add a@1 initial | add b@2 initial | add c@3 initial | add d@10 | update b@2 b@12 | delete a@1? | delete c@3?',
  },
  'an unchanged item of a relist is an update without a change': {
    steps: 'replace 5 [a@1 b@2], process, replace 6 [a@1 b@2]',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Replaced a@1 | Replaced b@2',
    atomic: 'ReplacedAll 5 [a@1 b@2] | ReplacedAll 6 [a@1 b@2]',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@1 | update b@2 b@2',
  },
  'a relist is delivered in its own order': {
    steps: 'replace 5 [a@1 b@2], process, replace 9 [b@8 a@7]',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Replaced b@8 | Replaced a@7',
    atomic: 'ReplacedAll 5 [a@1 b@2] | ReplacedAll 9 [b@8 a@7]',
    calls: 'add a@1 initial | add b@2 initial | update b@2 b@8 | update a@1 a@7',
  },
  'an empty relist deletes everything': {
    steps: 'replace 5 [a@1 b@2], process, replace 9 []',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Deleted a@1? | Deleted b@2?',
    atomic: 'ReplacedAll 5 [a@1 b@2] | ReplacedAll 9 []',
    calls: 'add a@1 initial | add b@2 initial | delete a@1? | delete b@2?',
  },
  'an object deleted and created again while queued is deleted and added': {
    steps: 'replace 5 [a@1], process, delete a@6, add a@7',
    deltaFifo: 'Replaced a@1 | Deleted a@6, Added a@7',
    realFifo: 'Replaced a@1 | Deleted a@6 | Added a@7',
    atomic: 'ReplacedAll 5 [a@1] | Deleted a@6 | Added a@7',
    calls: 'add a@1 initial | delete a@6 | add a@7',
  },
  'an object deleted and created again while no watch is open is updated': {
    steps: 'replace 5 [a@1], process, replace 9 [a@8]',
    deltaFifo: 'Replaced a@1 | Replaced a@8',
    atomic: 'ReplacedAll 5 [a@1] | ReplacedAll 9 [a@8]',
    calls: 'add a@1 initial | update a@1 a@8',
  },
  'an object created and deleted while queued is added and deleted': {
    steps: 'replace 5 [], process, add a@6, delete a@7',
    deltaFifo: 'Added a@6, Deleted a@7',
    realFifo: 'Added a@6 | Deleted a@7',
    atomic: 'ReplacedAll 5 [] | Added a@6 | Deleted a@7',
    calls: 'add a@6 | delete a@7',
  },
  'a relist adds no second deletion to a queued one': {
    steps: 'replace 5 [a@1], process, delete a@6, replace 7 []',
    deltaFifo: 'Replaced a@1 | Deleted a@6',
    atomic: 'ReplacedAll 5 [a@1] | Deleted a@6 | ReplacedAll 7 []',
    calls: 'add a@1 initial | delete a@6',
  },
  'a relist that contains a deleted object again adds it after its deletion': {
    steps: 'replace 5 [a@1], process, delete a@6, replace 8 [a@7]',
    deltaFifo: 'Replaced a@1 | Deleted a@6, Replaced a@7',
    realFifo: 'Replaced a@1 | Deleted a@6 | Replaced a@7',
    atomic: 'ReplacedAll 5 [a@1] | Deleted a@6 | ReplacedAll 8 [a@7]',
    calls: 'add a@1 initial | delete a@6 | add a@7',
  },
  'a relist deletes a missing object after its queued update': {
    steps: 'replace 5 [a@1 b@2], process, update a@6, replace 9 [b@2]',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Updated a@6, Deleted a@6? | Replaced b@2',
    realFifo: 'Replaced a@1 | Replaced b@2 | Updated a@6 | Deleted a@6? | Replaced b@2',
    atomic: 'ReplacedAll 5 [a@1 b@2] | Updated a@6 | ReplacedAll 9 [b@2]',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@6 | delete a@6? | update b@2 b@2',
  },
  'a relist deletes a missing object that is only queued': {
    steps: 'replace 5 [], process, add a@6, replace 9 []',
    deltaFifo: 'Added a@6, Deleted a@6?',
    realFifo: 'Added a@6 | Deleted a@6?',
    atomic: 'ReplacedAll 5 [] | Added a@6 | ReplacedAll 9 []',
    calls: 'add a@6 | delete a@6?',
  },
  'a second queued list deletes the objects that only the first one has': {
    steps: 'replace 5 [a@1 b@2], replace 9 [b@2 c@8]',
    deltaFifo: 'Replaced a@1, Deleted a@1? | Replaced b@2, Replaced b@2 | Replaced c@8',
    realFifo: 'Replaced a@1 | Replaced b@2 | Deleted a@1? | Replaced b@2 | Replaced c@8',
    atomic: 'ReplacedAll 5 [a@1 b@2] | ReplacedAll 9 [b@2 c@8]',
    calls: 'add a@1 initial | add b@2 initial | delete a@1? | update b@2 b@2 | add c@8',
    callsByDeltaFifo: 'add a@1 initial | delete a@1? | add b@2 initial | update b@2 b@2 | add c@8',
  },
  'a resync delivers every object again': {
    steps: 'replace 5 [a@1 b@2], process, resync',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Sync a@1 | Sync b@2',
    atomic: 'ReplacedAll 5 [a@1 b@2] | SyncAll',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@1 | update b@2 b@2',
  },
  'a resync does not bring back the state before a queued update': {
    steps: 'replace 5 [a@1 b@2], process, update a@6, resync',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Updated a@6 | Sync b@2',
    atomic: 'ReplacedAll 5 [a@1 b@2] | Updated a@6 | SyncAll',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@6 | update a@6 a@6 | update b@2 b@2',
    callsByRealFifo: 'add a@1 initial | add b@2 initial | update a@1 a@6 | update b@2 b@2',
    callsByDeltaFifo: 'add a@1 initial | add b@2 initial | update a@1 a@6 | update b@2 b@2',
  },
  'a resync does not bring back an object whose deletion is queued': {
    steps: 'replace 5 [a@1 b@2], process, delete a@6, resync',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Deleted a@6 | Sync b@2',
    atomic: 'ReplacedAll 5 [a@1 b@2] | Deleted a@6 | SyncAll',
    calls: 'add a@1 initial | add b@2 initial | delete a@6 | update b@2 b@2',
  },
  'a deletion that follows a resync is delivered after it': {
    steps: 'replace 5 [a@1 b@2], process, resync, delete b@6',
    deltaFifo: 'Replaced a@1 | Replaced b@2 | Sync a@1 | Sync b@2, Deleted b@6',
    realFifo: 'Replaced a@1 | Replaced b@2 | Sync a@1 | Sync b@2 | Deleted b@6',
    atomic: 'ReplacedAll 5 [a@1 b@2] | SyncAll | Deleted b@6',
    calls: 'add a@1 initial | add b@2 initial | update a@1 a@1 | update b@2 b@2 | delete b@6',
    // C44: for an object that is no longer in the cache, only its deletion is delivered.
    callsByPipeline: 'add a@1 initial | add b@2 initial | update a@1 a@1 | delete b@6',
  },
  'a resync before the first list delivers nothing': {
    steps: 'resync, replace 5 [a@1]',
    deltaFifo: 'Replaced a@1',
    atomic: 'SyncAll | ReplacedAll 5 [a@1]',
    calls: 'add a@1 initial',
  },
  'of a key that is twice in the initial list the second object is the final state': {
    steps: 'replace 5 [a@1 b@2 a@3]',
    deltaFifo: 'Replaced a@1, Replaced a@3 | Replaced b@2',
    realFifo: 'Replaced a@1 | Replaced b@2 | Replaced a@3',
    atomic: 'ReplacedAll 5 [a@1 b@2 a@3]',
    calls: 'add a@1 initial | add b@2 initial | add a@3 initial',
    callsByRealFifo: 'add a@1 initial | add b@2 initial | update a@1 a@3',
    callsByDeltaFifo: 'add a@1 initial | update a@1 a@3 | add b@2 initial',
    callsByPlainInformer: 'add a@1 initial | add b@2 initial | update a@1 a@3',
    callsByPipeline: 'add a@3 initial | add b@2 initial',
  },
  'of a key that is twice in a relist the second object is the final state': {
    steps: 'replace 5 [a@1], process, replace 9 [a@6 a@7]',
    deltaFifo: 'Replaced a@1 | Replaced a@6, Replaced a@7',
    realFifo: 'Replaced a@1 | Replaced a@6 | Replaced a@7',
    atomic: 'ReplacedAll 5 [a@1] | ReplacedAll 9 [a@6 a@7]',
    calls: 'add a@1 initial | update a@1 a@6 | update a@1 a@7',
    callsByRealFifo: 'add a@1 initial | update a@1 a@6 | update a@6 a@7',
    callsByDeltaFifo: 'add a@1 initial | update a@1 a@6 | update a@6 a@7',
    callsByPlainInformer: 'add a@1 initial | update a@1 a@6 | update a@6 a@7',
    callsByPipeline: 'add a@1 initial | update a@1 a@7',
  },
  'a deletion of an object that was never seen is delivered, but not by a DeltaFIFO': {
    steps: 'replace 5 [a@1], process, delete z@6',
    deltaFifo: 'Replaced a@1',
    realFifo: 'Replaced a@1 | Deleted z@6',
    atomic: 'ReplacedAll 5 [a@1] | Deleted z@6',
    calls: 'add a@1 initial | delete z@6',
    callsByDeltaFifo: 'add a@1 initial',
  },
  'a second deletion of one object is delivered, but not by a DeltaFIFO': {
    steps: 'replace 5 [a@1], process, delete a@6, process, delete a@7',
    deltaFifo: 'Replaced a@1 | Deleted a@6',
    realFifo: 'Replaced a@1 | Deleted a@6 | Deleted a@7',
    atomic: 'ReplacedAll 5 [a@1] | Deleted a@6 | Deleted a@7',
    calls: 'add a@1 initial | delete a@6 | delete a@7',
    callsByDeltaFifo: 'add a@1 initial | delete a@6',
  },
  'after a change before any list nothing is initial': {
    steps: 'add a@1, replace 5 [a@1 b@2]',
    deltaFifo: 'Added a@1, Replaced a@1 | Replaced b@2',
    realFifo: 'Added a@1 | Replaced a@1 | Replaced b@2',
    atomic: 'Added a@1 | ReplacedAll 5 [a@1 b@2]',
    calls: 'add a@1 | update a@1 a@1 | add b@2',
  },
  'an update of an object that was never seen is an addition, an addition of a known one an update': {
    steps: 'replace 5 [a@1], process, update b@6, add a@7',
    deltaFifo: 'Replaced a@1 | Updated b@6 | Added a@7',
    atomic: 'ReplacedAll 5 [a@1] | Updated b@6 | Added a@7',
    calls: 'add a@1 initial | add b@6 | update a@1 a@7',
  },
  'bookmarks deliver nothing': {
    steps: 'replace 5 [a@1], process, bookmark 8, update a@9',
    deltaFifo: 'Replaced a@1 | Updated a@9',
    atomic: 'ReplacedAll 5 [a@1] | Bookmark 8 | Updated a@9',
    calls: 'add a@1 initial | update a@1 a@9',
  },
};

export const HISTORIES: readonly History[] = Object.entries(ROWS).map(([title, { steps, ...texts }]) => {
  const all = Object.entries({ realFifo: texts.deltaFifo, ...texts });
  const fields = all.map(([field, text]) => [field, textsOf(text)]);
  return { title, steps: stepsOf(steps), ...Object.fromEntries(fields) };
});
