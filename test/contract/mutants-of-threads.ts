/** Mutants of the clauses about caches in other threads, and about pools of reconcilers. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const THREAD_MUTANTS: readonly Mutant[] = inFiles({
  'src/thread/main/cache-export.ts': {
    C205: ['? this.#write(oldRow, RowKind.Deleted, NO_ROW)', '? true'],
    C206: [
      'this.#send(deleted.last, RowKind.Missing, undefined)',
      'this.#send(deleted.last, RowKind.Deleted, undefined)',
    ],
    C209: ['this.#exportedRows.begin(former);', ''],
    C211: [
      "if (!this.link.writeMark(this.#writer, RowKind.Position, this.#informer, version)) return 'no room';",
      '',
    ],
    C212: [
      'if (!this.link.write(this.#writer, record, text)) return false;',
      'if (!this.link.write(this.#writer, record, text)) return true;',
    ],
    C296: ['this.#exportedRows.supersede(kind === RowKind.Put ? previousRow : row);', ''],
    C297: ['call?.written();', ''],
  },
  'src/thread/main/cache-export-step.ts': {
    C218: ["return { kind: 'removed' };", 'return state;'],
  },
  'src/thread/worker/replica-reader.ts': {
    C205: ['this.#freeIds.pop() ?? this.#idEnd++', '0'],
    C206: ["replica.control(DeltaKind.ReplaceBegin, ++this.#epoch, '');", '++this.#epoch;'],
    C209: ['table.setFlag(row, EntryFlag.Packed, record.dictionary !== NO_MEMORY);', ''],
  },
  'src/thread/main/reader-link.ts': {
    C212: ['this.#writeAll();', ''],
    C214: ['this.#closedWord.store(1);', ''],
    C298: ['this.fail(withCode(error));', 'throw error;'],
    C216: ['if (known.end !== decoder.end)', 'if (known.end < 0)'],
  },
  'src/thread/worker/foreign-memory.ts': {
    C205: ['const start = table.offsetOf(row);', 'const start = 0;'],
    C214: ['this.#isClosed = true;', ''],
  },
  'src/thread/main/exported-rows.ts': {
    C209: ['this.#table.exportRow(row);', ''],
    C213: ['return this.count > 0;', 'return false;'],
  },
  'src/replica/store/cache-exports.ts': {
    C290: ['if (isExported) this.#wake();', 'if (isExported) return;'],
  },
  'src/replica/store/slabs.ts': {
    C291: ['slab.rows[slab.sizeClass.chunkAt(this.#table.offsetOf(row))] = former;', ''],
  },
  'src/replica/store/store-memory.ts': {
    C293: ['for (const reader of this.readers) reader.collect();', ''],
    C292: ['        failed(error);\n', '        throw error;\n'],
  },
  'src/replica/deliver/processor-listener.ts': {
    C207: [
      'writer && this.isIdle && writer.changed(oldRow, newRow)',
      'writer && writer.changed(oldRow, newRow)',
    ],
  },
  'src/thread/main/attach-reader.ts': { C214: ['{ drain: true }', '{}'] },
  'src/thread/main/shared-cache.ts': {
    C213: ['this.isOpen = false;\n        this.#link.close();', 'this.isOpen = false;'],
    C215: ['!informer.hasStarted()', 'false'],
    C298: ['this.#link.end(number, withCode(error));', 'throw error;'],
  },
  'src/thread/worker/open-cache.ts': {
    C208: ['const requestRun = this.#loop.wake;', 'const requestRun = () => void drain.runOnce();'],
    C210: ['for (const informer of this.#numbered) informer.merged();', ''],
    C214: ['this.#memory.close();', ''],
    C215: ['if (opened.load() !== 0)', 'if (false)'],
    C218: ['for (const informer of this.#numbered) informer.checkRunning();', ''],
    C445: [' || isClosed(port)', ''],
  },
  'src/thread/worker/thread-informer.ts': {
    C210: ['this.#waiters.close();', ''],
    C294: ['this.#abortList();\n', '\n'],
    C295: ['this.merged();', ''],
  },
  'src/thread/pool/reconciler-pool.ts': {
    C217: ['const poolThread = this.#idle.pop();', 'const [poolThread] = this.#idle;'],
    C222: ['await ended;', ''],
  },
  'src/thread/pool/pool-thread.ts': {
    C217: ['await thread.run(task).catch', 'await abortable(thread.run(task), signal).catch'],
    C218: ['const { resourceVersions } = this.#settings.cache;', "const resourceVersions = [''];"],
    C220: ['void thread.exited.then((reason) => this.#exited(reason));', ''],
    C299: ['isLate = true;', 'return;'],
  },
  'src/thread/pool/reconcile-task.ts': {
    C218: ['await this.#cache.waitForResourceVersions(resourceVersions, signal);', ''],
    C219: ['requeueAfterMs: requeueDelayMs(result)', 'requeueAfterMs: undefined'],
    C221: ["if (isAbortOf(error, signal)) return { outcome: 'aborted' };", ''],
  },
  'src/thread/pool/messages.ts': {
    C219: ['return Object.assign(error, details);', 'return error;'],
    C299: ['const error = inspectable(thrown);', 'const error = thrown;'],
  },
  'src/workqueue/run-workers.ts': {
    C220: ['queue.addRateLimited(item, retryAfterMs(error));', 'queue.forget(item);'],
    C281: ["callGuarded('onError', () => onError(error, item, retries));", 'onError(error, item, retries);'],
    C283: ['if (!isAbortOf(error, signal))', 'if (error !== signal?.reason)'],
  },
});
