/** Mutants of the clauses about a program's own sources, removal, waiting, health and writes. */
import type { Mutant } from './mutant.ts';

export const PROGRAM_MUTANTS: readonly Mutant[] = [
  {
    clause: 'C131',
    file: 'src/informer/threads/list-watch-feed.ts',
    find: "thrown['httpStatus'] ?? thrown['code']",
    replace: "thrown['code']",
  },
  {
    clause: 'C132',
    file: 'src/informer/threads/list-watch-feed.ts',
    find: 'response.write(lineOf(event)); if (response.isFull) await response.room();',
    replace: 'response.write(lineOf(event));',
  },
  {
    clause: 'C133',
    file: 'src/informer/threads/list-watch-feed.ts',
    find: "response.signal.addEventListener('abort', stop, { once: true });",
    replace: '',
  },
  {
    clause: 'C134',
    file: 'src/informer/threads/list-watch-feed.ts',
    find: " || version === ''",
    replace: '',
  },
  {
    clause: 'C135',
    file: 'src/apiserver/testing/settled.ts',
    find: 'return busyHandlers.length === 0 ? []',
    replace: 'return true ? []',
  },
  {
    clause: 'C136',
    file: 'src/informer/threads/main-loop.ts',
    find: 'this.#timers.setImmediate(this.#turn);',
    replace: 'globalThis.setImmediate(this.#turn);',
  },
  {
    clause: 'C137',
    file: 'src/replica/deliver/processor-listener.ts',
    find: "if (this.#state === 'open') this.#state = 'leaving';",
    replace: 'this.remove();',
  },
  {
    clause: 'C138',
    file: 'src/informer/lifecycle.ts',
    find: 'handlers.close(this.#drain && !this.#failure)',
    replace: 'handlers.close(false)',
  },
  {
    clause: 'C139',
    file: 'src/replica/deliver/processor-listener.ts',
    find: '!this.#calls.isBusy && !this.#isHolding',
    replace: '!this.#isHolding',
  },
  {
    clause: 'C140',
    file: 'src/informer/handlers.ts',
    find: 'if (listener.isInsideCall)',
    replace: 'if (false)',
  },
  {
    clause: 'C141',
    file: 'src/replica/deliver/handler-calls.ts',
    find: 'callMs <= slowLimits.slowCallMs || ',
    replace: '',
  },
  {
    clause: 'C142',
    file: 'src/replica/deliver/pending.ts',
    find: 'RESOLUTION_MS = 100',
    replace: 'RESOLUTION_MS = 1000',
  },
  {
    clause: 'C144',
    file: 'src/replica/merge/informer-merge.ts',
    find: 'if (record.kind === DeltaKind.Bookmark)',
    replace: 'if (false)',
  },
  {
    clause: 'C145',
    file: 'src/informer/wait-for.ts',
    find: 'if (areDone()) return;',
    replace: '',
  },
  {
    clause: 'C146',
    file: 'src/informer/health-step.ts',
    find: '>= staleAfterMs',
    replace: '> staleAfterMs',
  },
  {
    clause: 'C147',
    file: 'src/informer/health-step.ts',
    find: 'return isOpen(connection) ?',
    replace: 'return true ?',
  },
  {
    clause: 'C148',
    file: 'src/replica/store/entry-owner.ts',
    find: 'this.#options.guard?.(object, entry.key);',
    replace: '',
  },
  {
    clause: 'C149',
    file: 'src/informer/mutation/cache-mutation-detector.ts',
    find: 'watched.copy = snapshotOf(object);',
    replace: '',
  },
  {
    clause: 'C155',
    file: 'src/informer/lister.ts',
    find: 'return this.#store.select(selectorOf(selector), this.#namespace);',
    replace: "return this.#store.select(selectorOf(selector), '');",
  },
];
