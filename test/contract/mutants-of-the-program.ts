/** Mutants of the clauses about a program's own sources, removal, waiting, health and writes. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const PROGRAM_MUTANTS: readonly Mutant[] = inFiles({
  'src/informer/threads/list-watch-feed.ts': {
    C131: ["thrown['httpStatus'] ?? thrown['code']", "thrown['code']"],
    C132: [
      'response.write(lineOf(event)); if (response.isFull) await response.room();',
      'response.write(lineOf(event));',
    ],
    C133: ['onAbort(response.signal, stop);', '() => {};'],
    C134: [" || version === ''", ''],
  },
  'src/tools/apiserver/testing/settled.ts': {
    C135: ['return busyHandlers.length === 0 ? []', 'return true ? []'],
  },
  'src/informer/threads/main-loop.ts': {
    C136: ['this.#timers.setImmediate(this.#turn);', 'globalThis.setImmediate(this.#turn);'],
  },
  'src/replica/deliver/processor-listener.ts': {
    C137: ["this.#state = 'leaving';", 'this.remove();'],
    C139: ['this.#calls.isBusy || this.#isHolding', 'this.#isHolding'],
  },
  'src/informer/lifecycle.ts': {
    C138: ['handlers.close(this.#drain && !this.#failure)', 'handlers.close(false)'],
  },
  'src/informer/handlers.ts': { C140: ['if (listener.isInsideCall)', 'if (false)'] },
  'src/replica/deliver/handler-calls.ts': {
    C141: ['this.#isBehind && callMs > slowLimits.callMs', 'this.#isBehind'],
  },
  'src/replica/deliver/pending.ts': { C142: ['RESOLUTION_MS = 100', 'RESOLUTION_MS = 1000'] },
  'src/replica/merge/informer-merge.ts': { C144: ['if (record.kind === DeltaKind.Bookmark)', 'if (false)'] },
  'src/informer/wait-for.ts': {
    C145: ['areDone() ? resolve() : reject(new NotSyncedError(what, checkers, signal?.reason))', 'resolve()'],
  },
  'src/informer/health-step.ts': {
    C146: ['>= staleAfterMs', '> staleAfterMs'],
    C147: ['return isOpen(connection) ?', 'return true ?'],
  },
  'src/replica/store/entry-owner.ts': { C148: ['guard?.(object, entry.key);', ''] },
  'src/informer/mutation/cache-mutation-detector.ts': { C149: ['watched.copy = snapshotOf(object);', ''] },
  'src/base/errors.ts': {
    C472: ['if (Object(thrown) !== thrown)', 'if (true)'],
  },
  'src/workqueue/terminal-error.ts': { C473: ['open.add(each.cause);', ''] },
  'src/replica/store/scan.ts': { C204: ['entry.owner.table.endBorrow(entry, BORROWER);', ''] },
  'src/informer/lister.ts': {
    C155: [
      'return this.#store.select(selectorOf(selector), this.#namespace);',
      "return this.#store.select(selectorOf(selector), '');",
    ],
  },
});
