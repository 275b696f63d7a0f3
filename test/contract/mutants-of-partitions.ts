/** Mutants of the clauses about partitions. The simulator of groups contains more: wrong rules, which it must find. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const PARTITION_MUTANTS: readonly Mutant[] = inFiles({
  'src/partitions/member-turn.ts': {
    C442: ['this.decidedMs = before.decidedMs;', 'this.decidedMs = moment.nowMs;'],
    C228: ["this.effects.push({ type: 'end-work', partition: index, why: 'lost' });", ''],
    C301: ['this.cannotTake(index, this.nowMs + Math.min(', 'this.cannotTake(index, 0 * Math.min('],
  },
  'src/partitions/member-step.ts': {
    C460: [' && heartbeat.note.isOver) {', ') {'],
    C461: ['const leases = Math.min(2 ** Math', 'const leases = Math.min(1 ** Math'],
    C463: ['holder === id && !note.isLeaving', 'false'],
    C300: ["note.division === heartbeat.note.division ? 'seen'", "note.division !== 'x' ? 'seen'"],
    C233: [
      "if (phase.kind === 'claiming') turn.setPhase(index, { kind: 'other', notBeforeMs: laterMs });",
      '',
    ],
    C441: ["if (phase.kind === 'syncing' && isMistake(failure.error))", 'if (false)'],
  },
  'src/partitions/decide.ts': {
    C228: ['if (nowMs >= peer.dueMs) {', 'if (true) {'],
    C460: ["turn.effects.push({ type: 'end-life' });\n    turn.endLife();", ''],
    C230: ['const epoch = Math.max(...epochs) + 1;', 'const epoch = Math.max(...epochs);'],
    C300: [
      "if (isYounger) turn.effects.push({ type: 'refuse', id, division: note.division });",
      'void isYounger;',
    ],
    C447: ['if (isGivenUp) turn.cannotTake(', 'void ('],
  },
  'src/partitions/lease-requests.ts': {
    C460: ['{ ...heartbeat.note, isOver: true }', 'heartbeat.note'],
    C462: ['return isOwn ? lock.update(lease, record, signal) : lease;', 'return lease;'],
  },
  'src/partitions/ownership.ts': {
    C447: ['if (servers.includes(member)) continue;', 'continue;'],
    C461: ['const shares = able.length || members.length;', 'const shares = members.length;'],
  },
  'src/partitions/partition-group.ts': {
    C301: ['latestReleaseMs + RELEASE_MS', 'drainTimeoutMs'],
    C233: ['backoff: { initialMs: retryPeriodMs, maxMs: retryPeriodMs },', ''],
  },
  'src/partitions/partition-member.ts': {
    C228: ['if (!election.isLeading) over.abort();', ''],
    C460: ["if (!stored || stored.record.holderIdentity !== '') return stored;", 'return stored;'],
    C301: ['= this.#end.signal.aborted && this.#works.size === 0', '= this.#end.signal.aborted'],
  },
  'src/informer/map/part.ts': {
    C231: ['isIn(added) ? handler.onAdd', 'isIn(added) && !isInInitialList ? handler.onAdd'],
    C302: [
      "if (filter.key === 'uid') return ({ uid }) => filter.matchesText(uid);",
      "if (filter.key === 'uid') return undefined;",
    ],
  },
  'src/controller/queueing.ts': { C303: ['return isOwn;', 'return true;'] },
  'src/controller/managed-controller.ts': {
    C303: ['if (!isKnownAs(own, false) || !isKnownAs(kind, true)) return;', 'return;'],
    C231: ['if (isIdle) for', 'for'],
  },
  'src/controller/reconciliation.ts': {
    C314: ['if (signal?.aborted && !work.aborted)', 'if (false)'],
    C315: ['this.#writes?.isEmpty === false', 'false'],
  },
  'src/partitions/partitioned-manager.ts': { C229: ['await caches.current(set.handles);', ''] },
  'src/partitions/partition-caches.ts': {
    C229: ['if (!isNew)', 'if (false)'],
    C234: ['if (await abortable(this.#isFiltering(), signal))', 'if (true)'],
  },
  'src/partitions/bookmark-probe.ts': {
    C229: ["events.findLast(({ type }) => type !== 'BOOKMARK')", 'undefined'],
  },
  'src/controller/requests/precondition.ts': { C232: ["where.version !== '0'", 'true'] },
  'src/http/http1-connection.ts': { C232: ['if (this.#isRefused())', 'if (false)'] },
  'src/controller/leader-election/election-step.ts': {
    C311: ['return before;', 'return undefined;'],
    C312: ['&& !isOfTwin', ''],
  },
  'src/controller/events/correlation.ts': { C313: ['isSubdomain(given) ? given', 'true ? given'] },
  'src/controller/events/event-recorder.ts': { C313: ['client.plain()', 'client'] },
  'src/http/api-client.ts': { C315: ["request.method === 'GET' || !isUnread", 'true'] },
  'src/kube/retry.ts': {
    C313: ['httpStatus === TOO_MANY_REQUESTS ||', ''],
    C315: ["code === 'ERR_KUBELOOM_SERVER_TIMEOUT'", 'false'],
  },
  'src/shared/fence.ts': { C310: ['if (remainingMs <= 0 &&', 'if (remainingMs <= -Infinity &&'] },
});
