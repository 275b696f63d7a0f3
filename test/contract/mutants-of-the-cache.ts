/** Mutants of the clauses about objects, the cache and delivery to handlers. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const CACHE_MUTANTS: readonly Mutant[] = inFiles({
  'src/kube/json/member-from-end.ts': {
    C330: ['if (((index - first) & 1) === 0) return index;', 'return index;'],
  },
  'src/replica/store/part-reader.ts': {
    C15: ['parts.object = object;', 'void object;'],
    C322: ['!this.#reported.has(entry.facts)', 'true'],
    C331: ['for (const other of [entry.before, entry.after]) {', 'for (const other of [entry.before]) {'],
    C332: ['if ((before.flags | entry.flags) & UNREADABLE) return false;', 'void 0;'],
  },
  'src/informer/threads/backend-step.ts': { C425: ['event.isListing ? { state } : afterRead', 'afterRead'] },
  'src/reflector/read-window.ts': {
    C320: ['windowMs * this.#ratePerMs >= EVENTS_MIN', 'windowMs * this.#ratePerMs < EVENTS_MIN'],
  },
  'src/reflector/managed-fields-probe.ts': {
    C326: ["const support = isSent ? 'sent' : 'dropped';", "const support = 'dropped';"],
  },
  'src/informer/transform.ts': {
    C327: ['return { drop: [...split.drop, MANAGED_FIELDS] };', 'return split;'],
  },
  'src/reflector/loop-turns.ts': { C324: ['return this.#records <= RECORDS_DEFERRED_MAX;', 'return false;'] },
  'src/reflector/reflector-thread.ts': {
    C325: ['if (reflector.isListing) return false;', 'void reflector;'],
  },
  'src/replica/store/replica.ts': {
    C1: ['isFirst ? this.#live.rowAt(live) :', '!isFirst ? this.#live.rowAt(live) :'],
    C2: ['if (this.#shadow?.epoch !== epoch)', 'if (this.#shadow?.epoch !== epoch || this.#hasSynced)'],
    C4: [
      'this.#listener.changed(previous, row);',
      'queueMicrotask(() => this.#listener.changed(previous, row));',
    ],
    C5: ['return this.#live;', 'return this.#shadow?.state ?? this.#live;'],
    C6: [
      'this.#live.update(ordinal, row, values);',
      'setImmediate(() => this.#live.update(ordinal, row, values));',
    ],
    C10: ['new Difference(this.table, !this.#hasSynced,', 'new Difference(this.table, true,'],
    C11: ['return this.#hasSynced;', 'return this.#hasSynced || this.#shadow !== undefined;'],
    C41: ['this.#hasSynced = true;', 'this.#hasSynced = this.#live.size > 0;'],
    C47: [
      'this.#listener.changed(last, NO_ROW);',
      'if (ordinal !== NO_ORDINAL) this.#listener.changed(last, NO_ROW);',
    ],
    C17: ['this.#live.version = table.versionOf(row);', 'void 0;'],
    C51: ['this.changing.version = resourceVersion;', 'void 0;'],
  },
  'src/reflector/watch-body.ts': {
    C3: ['this.#position.moveTo(bytes, resourceVersionStart, resourceVersionEnd);', 'void 0;'],
    C14: [
      'return this.#object(DeltaKind.Deleted, bytes);',
      'return this.#object(DeltaKind.Modified, bytes);',
    ],
  },
  'src/replica/store/deliveries.ts': {
    C24: ['const place = position - this.#deletions.length;', 'const place = this.length - 1 - position;'],
    C9: ['this.#saved.set(ordinal, row);', 'void ordinal;'],
    C44: ["if (this.#kind === 'join') {", "if (this.#kind !== '') {"],
    C46: ['out.isFinalStateUnknown = isDeletion;', 'out.isFinalStateUnknown = false;'],
  },
  'src/replica/store/replica-state.ts': {
    C25: [
      'for (const ordinal of this.ordinals()) yield this.#table.keyOf',
      'for (const ordinal of [...this.ordinals()].reverse()) yield this.#table.keyOf',
    ],
  },
  'src/informer/informer-options.ts': { C26: ['{ fieldSelector: options.fieldSelector }', '{}'] },
  'src/reflector/router.ts': { C27: ['? NOTHING : target.typeMeta', '? NOTHING : NOTHING'] },
  'src/informer/threads/main-loop.ts': {
    C28: ['this.#isScheduled = true; this.#timers.setImmediate(this.#turn);', 'this.#turn();'],
  },
  'src/replica/store/indexer.ts': {
    C29: ['table.handOut(live.rowAt(ordinal))', 'Object.create(table.handOut(live.rowAt(ordinal)))'],
  },
  'src/replica/store/object-parts.ts': { C330: ['key = jsonKey(name);', 'key = Buffer.from(name);'] },
  'src/replica/store/extracted-fields.ts': {
    C263: ["readUuid.readText(uid) ? '' : uid", "false ? '' : uid"],
  },
  // The walk ends at managedFields, where Go's does.
  'src/kube/json/extraction.ts': {
    C16: ['return this.#managedFieldsEnd;', 'return COMPLETE;'],
    C73: ['return this.#managedFieldsEnd;', 'return COMPLETE;'],
    C155: ['return this.#managedFieldsEnd;', 'return COMPLETE;'],
    C261: ['return this.#managedFieldsEnd;', 'return COMPLETE;'],
  },
  'src/indexer/key-states.ts': { C261: ['isSame && isWholeHead(', 'isSame || isWholeHead('] },
  'src/indexer/modules.ts': { C50: ['changed.length > 0', 'false'] },
  'src/replica/store/entry.ts': { C30: ['return this.owner.reader.copy(this);', 'return this.object;'] },
  'src/replica/merge/informer-merge.ts': {
    C31: ['this.#isUnchanged(replica.live.rowAt(ordinal), state)', 'false'],
    C200: ['&&\n            this.#hasObject(live, listed)', ''],
  },
  'src/replica/deliver/processor-listener.ts': {
    C7: [
      'this.#queue.push(oldRow, newRow);',
      'this.#queue.push(oldRow, newRow); this.#queue.push(oldRow, newRow);',
    ],
    C33: [
      'for (const listener of this.#listeners) listener.push(oldRow, newRow, merging);',
      'for (const listener of this.#listeners) { listener.push(oldRow, newRow, merging); if (!listener.isReady) break; }',
    ],
    C35: ['return this.#listeners.delete(listener);', 'this.#listeners.clear(); return true;'],
    C8: ["remove() {\n        this.#state = 'removed';", "remove() { this.#state = 'leaving';"],
    C38: [
      "listener.pushCursor(new SnapshotCursor(replica, 'join'), true);",
      "for (const one of this.#listeners) one.pushCursor(new SnapshotCursor(replica, 'join'), true);",
    ],
    C39: ['return this.#hasInitial && this.#initial === undefined;', 'return this.#hasInitial;'],
    C12: ['const isResyncDue = listener.isResyncDue && difference.mayResync;', 'const isResyncDue = true;'],
    C13: ["new SnapshotCursor(replica, 'resync')", "new SnapshotCursor(replica, 'join')"],
  },
  'src/replica/deliver/handler-calls.ts': {
    C32: ["this.#call = 'awaiting';", "this.#call = 'none';"],
    C34: [
      'await result; } catch (error) { this.#report(error, oldEntry, newEntry);',
      'await result; } catch (error) { void error;',
    ],
    C40: [
      'catch (error) { this.#report(error, oldEntry, newEntry); } this.#finish(oldEntry, newEntry, startMs); } async',
      'catch (error) { this.#report(error, oldEntry, newEntry); return; } this.#finish(oldEntry, newEntry, startMs); } async',
    ],
  },
  'src/informer/handlers.ts': {
    C36: ['await Promise.all(listeners.map(({ ended }) => ended));', 'void listeners;'],
    C37: [
      'const listener = this.#listenerOf(registration); if (listener)',
      "const listener = this.#listenerOf(registration); if (!listener) throw new Error('not ours'); if (listener)",
    ],
  },
  'src/informer/lifecycle.ts': { C203: ['if (!this.hasStarted)', 'if (false)'] },
  'src/informer/wait-for.ts': { C42: ['isDone: informer.hasSynced(),', 'isDone: !informer.hasSynced(),'] },
  'src/reflector/reflector-session.ts': { C43: ['lastsMs + WATCH_MARGIN_MS', '500'] },
  'src/replica/deliver/resync.ts': {
    C45: ['wanted === 0 ? 0 : Math.max(wanted, check)', 'wanted === 0 ? check : Math.max(wanted, check)'],
  },
  'src/replica/merge/main-transform.ts': {
    C16: ['return bytes && { bytes, start: 0, length: bytes.length };', 'return bytes && object;'],
    C48: ['jsonText(this.#transform(object))', 'jsonText(this.#transform(this.#transform(object)))'],
    C49: ['this.#onError(', 'void ('],
    C50: ['changedIdentity(json, { name, namespace, uid, resourceVersion }).length === 0', 'true'],
  },
  'src/informer/shared-index-informer.ts': {
    C52: [
      'lastSyncResourceVersion() { return this.#pipeline.replica.live.resourceVersion;',
      "lastSyncResourceVersion() { return this.#pipeline.replica.live.resourceVersion || '0';",
    ],
  },
  'src/shared/pack/pack.ts': { C197: ['let from = length + shift;', 'let from = length + shift + 1;'] },
});
