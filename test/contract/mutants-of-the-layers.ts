/** Mutants of the clauses about a program's own stores, queues, controllers and work queues. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const LAYER_MUTANTS: readonly Mutant[] = inFiles({
  'src/client-go/cache/thread-safe-store.ts': {
    C93: [
      'const values = this.#indices.evaluate(key, item);',
      'this.#put(key, item, []); const values = this.#indices.evaluate(key, item);',
    ],
    C94: ['const indices = this.#indices.emptied();', 'const indices = this.#indices;'],
    C95: ['.keys(indexName, value)].sort()', '.keys(indexName, value)]'],
    C97: ['prepared.at(-1)', 'prepared.at(0)'],
  },
  'src/client-go/cache/indices.ts': { C96: ['if (conflicts.length === 0)', 'if (conflicts.length < 2)'] },
  'src/client-go/cache/indexed-store.ts': {
    C98: ["object: type === 'delete' ? object : this.#transformed(object)", 'object'],
  },
  'src/kube/meta-shape.ts': {
    C260: [
      'return hasMark(object, Mark.Entry);',
      "return hasMark(object, Mark.Entry) || object['finalStateUnknown'] === false;",
    ],
  },
  'src/indexer/notification-writer.ts': { C261: ['this.#textAt += bytes.length;', 'this.#textAt = length;'] },
  'src/reflector/watch-body.ts': { C262: ['if (length > this.#bytes.length)', 'if (false)'] },
  'src/indexer/shard-informer.ts': {
    C263: [
      'return decoded >= 0 ? decoded : text;',
      "return Buffer.from(this.#log.subarray(start, start + resourceVersionLength)).toString('latin1');",
    ],
  },
  'src/kube/keys.ts': { C99: ['if (isTombstone(object))', 'if (false)'] },
  'src/client-go/cache/expiration-cache.ts': { C100: ['> this.ttlMs;', '>= this.ttlMs;'] },
  'src/client-go/cache/mutation-cache.ts': {
    C101: ['(order === 0 || known.uid === written.uid)', 'order === 0'],
  },
  'src/kube/meta.ts': {
    C264: ['if (items === null)', 'if (false)'],
    C102: ['typeMeta, item, typeMeta)', 'typeMeta, item)'],
  },
  'src/client-go/queue/known-objects.ts': {
    C103: ["listed.has(key) || type === 'Deleted'", 'listed.has(key)'],
    C107: ['if (isPending(key)) continue;', ''],
  },
  'src/client-go/queue/delta-fifo.ts': {
    C104: ['else if (isTombstone(newest.object))', 'else if (!isTombstone(newest.object))'],
  },
  'src/client-go/queue/keyed-queue.ts': {
    C105: ['if (!isPutBack) this.#processed(key);', 'this.#processed(key);'],
  },
  'src/client-go/queue/real-fifo.ts': {
    C106: ['for (const object of objects) this.keyOfObject(object);', ''],
    C108: ['[...this.#inProcess, ...this.#items.toArray()]', '[...this.#items.toArray()]'],
    C110: ['if (this.sync.left > 0)', 'if (false)'],
  },
  'src/client-go/queue/consumer-line.ts': {
    C109: ['this.#last = before.then(() => left);', 'this.#last = left;'],
  },
  'src/base/heap-data.ts': { C111: ['this.#sift(last);', ''] },
  'src/client-go/controller/store-writer.ts': { C122: ["if (type === 'DELETED')", 'if (false)'] },
  'src/client-go/controller/inline-reflector.ts': {
    C123: ['this.#effects.length = 0; this.#fail(torn(', 'this.#fail(torn('],
  },
  'src/client-go/controller/watch-request.ts': {
    C124: ["if (this.#stage === 'synthetic' && type === 'ADDED')", 'if (false)'],
    C127: ['attempt.onClose(() => this.#stop(watch));', ''],
  },
  'src/client-go/controller/controller.ts': { C125: ['this.#reports.report(wrapped(', 'void (wrapped('] },
  'src/client-go/controller/reflector.ts': {
    C126: ['stopResync ??= everyPeriod(', 'stopResync?.(), stopResync = everyPeriod('],
  },
  'src/client-go/controller/informer.ts': { C128: ['if (after === key)', 'if (true)'] },
  'src/client-go/controller/list-watch.ts': { C129: ['else this.#response?.pause();', ''] },
  'src/client-go/controller/process-deltas.ts': { C130: ['if (done.has(index))', 'if (true)'] },
  'src/kube/resource-version.ts': { C143: ['a.length - b.length', 'b.length - a.length'] },
  'src/workqueue/parallelize-until.ts': { C282: ['await turns.next();', ''] },
  'src/workqueue/work-queue.ts': {
    C150: ['if (!this.#processing.has(key)) this.#push(key);', 'this.#push(key);'],
  },
  'src/workqueue/reconcile-result.ts': { C280: ['names.length !== 1 || names[0] !== MEMBER', 'false'] },
  'src/base/loop-turns.ts': { C282: ['this.#steps++ < STEPS_MAX', 'true'] },
  'src/base/clock.ts': { C284: ['const isLong = restMs > TIMER_MS_MAX;', 'const isLong = false;'] },
  'src/controller/queueing.ts': {
    C281: [
      'attempt(() => answerOf(predicate(change)), true)',
      'attempt(() => answerOf(predicate(change)), false)',
    ],
    C285: ['return keys.filter((key) => isKeyOf(owner, key));', 'return keys;'],
  },
  'src/controller/awaited-resource.ts': { C286: ['FINAL.has(error.code)', 'true'] },
  'src/controller/reconciliation.ts': {
    C287: ['this.#isOver = true;', 'this.#isOver = true; await this.writesArrived();'],
  },
  'src/workqueue/time-heap.ts': { C151: ['Math.min(atMs, known.atMs)', 'atMs'] },
  'src/workqueue/priority-queue.ts': {
    C152: ['since - priority * this.#agingMs', '-priority * this.#agingMs'],
  },
  'src/workqueue/rate-limiters.ts': {
    C153: ['this.#baseDelayMs * 2 ** this.failed(item)', 'this.#baseDelayMs * 2 * this.failed(item)'],
  },
  'src/kube/label-selector.ts': {
    C154: [
      "return (labels) => !Object.hasOwn(labels, key) || !wanted.has(labels[key] ?? '');",
      "return (labels) => !wanted.has(labels[key] ?? '') && Object.hasOwn(labels, key);",
    ],
  },
});
