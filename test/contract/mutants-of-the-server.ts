/** Mutants of the clauses about errors, lifecycles, sizes and requests to a server. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const SERVER_MUTANTS: readonly Mutant[] = inFiles({
  'src/http/watch-frames.ts': { C450: ['this.#mayEnd && bytes[at] === OPEN_BRACE', 'false'] },
  'src/informer/pipeline.ts': { C18: ['error: reports.watch,', 'error: (error) => events.failed(error),'] },
  'src/informer/error-reporter.ts': {
    C53: ["void this.#call('the watch error handler', this.watchErrorHandler, error);", 'void error;'],
    C56: [
      'await listener(error, context);',
      'await undefined; } finally { await listener(error, context); } try {',
    ],
    C57: ['this.#log || !this.#onError', 'this.#log'],
  },
  'src/metrics/serve-health.ts': { C480: ["text('the result of metrics', body);", ''] },
  'src/base/logger.ts': { C481: ['inspectAs(fields, inLine);', ''] },
  'src/tools/apiserver/wire/rights.ts': { C482: ['return this.#everywhere.has(name) ||', 'return '] },
  'src/http/http-errors.ts': { C54: ["['ECONNREFUSED',", "['REFUSED',"] },
  'src/informer/lifecycle.ts': {
    C55: ['if (this.#failure) throw this.#failure;', 'void 0;'],
    C19: [
      "if (this.#state.kind !== 'created') { throw new KubeloomError('ERR_KUBELOOM_STARTED', `",
      "if (this.#state.kind === 'running') { throw new KubeloomError('ERR_KUBELOOM_STARTED', `",
    ],
    C58: ["throw new KubeloomError('ERR_KUBELOOM_STARTED', 'informer has already started');", 'return;'],
    C59: ["throw new KubeloomError('ERR_KUBELOOM_STOPPED', message);", 'return;'],
  },
  'src/informer/threads/informer-threads.ts': {
    C60: ["this.#running?.backends.current.toReflector({ type: 'stop', informer });", 'resolve();'],
    C446: ['this.#closed.abort(closed);', ''],
    C61: ['await this.#running?.backends.close();', 'void 0;', 'threads-1'],
  },
  'src/base/option-checks.ts': { C62: ['!Object.hasOwn(checks, name)', 'false'] },
  'src/replica/merge/sequence-merger.ts': {
    C63: ['this.#informers.delete(informer);', 'this.#informers.clear();'],
  },
  'src/replica/store/entry-owner.ts': {
    C20: ['this.#isStrict ? entry.borrows === 0', 'this.#isStrict ? entry.borrows < 0'],
    C65: [
      'if (entry.flags & EntryFlag.Retained)\n            entry.privateCopy',
      'if (entry.flags & EntryFlag.Malformed)\n            entry.privateCopy',
    ],
    C67: ['return refuseClone();', 'return undefined;'],
  },
  'src/replica/store/part-reader.ts': {
    C71: ['if (value === undefined)\n        throw malformedError(entry);', ''],
  },
  'src/replica/store/entry.ts': {
    C64: [
      'return this.facts.fields.labels;',
      'this.owner.checkReadable(this); return this.facts.fields.labels;',
    ],
  },
  'src/replica/store/entry-table.ts': {
    C66: ['words[at + GENERATION] = ((words[at + GENERATION] ?? 0) + 1) | 0;', ''],
  },
  'src/replica/deliver/processor-listener.ts': {
    C21: ['this.#bytes.count(oldBytes, newBytes, 1);', 'void 0;'],
  },
  'src/reflector/router.ts': {
    C68: [
      "if (!ring.canClaim(OBJECT_DELTA_BYTES)) return this.#refuse('ring');",
      'if (!ring.canClaim(OBJECT_DELTA_BYTES)) return true;',
    ],
    C22: ['if (end - start > target.objectBytesMax)', 'if (end - start > 2 ** 40)'],
  },
  'src/reflector/object-writer.ts': {
    C69: ['Math.max(objectBytesMax, IDENTITY_BYTES_MIN)', 'IDENTITY_BYTES_MIN'],
    C70: ["'ERR_KUBELOOM_OBJECT_WITHOUT_NAME'", "'ERR_KUBELOOM_UNEXPECTED_OBJECT'"],
    C72: ["(textOf(bytes, start, end, 'kind') ?? kind) === kind", 'kind !== undefined'],
  },
  'src/reflector/watch-body.ts': {
    C23: ["return this.#fail('not a watch event', bytes, start, end);", 'return true;'],
    C90: ['this.#owner.fail(errorEvent(', 'void (errorEvent('],
  },
  'src/replica/store/index-functions.ts': {
    C73: ['entry.controllerUid === undefined ? NO_VALUES : [entry.controllerUid]', 'NO_VALUES'],
  },
  'src/replica/store/replica-state.ts': {
    C74: ['for (const ordinal of this.ordinals()) {', 'for (const ordinal of []) {'],
    C75: ['if (conflicts.length > 0) {', 'if (conflicts.length > 1) {'],
    C76: ['if (ordinals?.size === 0)', 'if (ordinals?.size === -1)'],
    C77: ['return [];', 'throw cause;'],
  },
  'src/http/queries.ts': {
    C78: ["resourceVersionMatch: 'NotOlderThan',", "resourceVersionMatch: 'Exact',"],
    C80: ["return lastSeen === '' && first === 'any' ? '0' : lastSeen;", "return '0';"],
    C88: ["return isUnavailable ? '' : lastSeen;", "return '';"],
  },
  'src/reflector/rules/transitions.ts': {
    C79: [
      "return memory.spec.watchList === 'auto' ?",
      "return memory.spec.watchList === 'auto' && memory.epoch === 0 ?",
    ],
    C84: ['DeltaKind.ReplaceAbort', 'DeltaKind.ReplaceEnd'],
    C89: ['progress.durationMs < SHORT_WATCH_MS && progress.events === 0', 'progress.durationMs < 0'],
    C113: ["failure.kind === 'unauthorized' && !memory.isUnauthorized", 'false'],
  },
  'src/reflector/rules/step-list.ts': {
    C81: ["if (page.continueToken === '') {", 'if (page.continueToken !== undefined) {'],
    C82: ["progress.continueToken !== '' && !progress.isFullList", 'progress.isFullList'],
  },
  'src/kube/status.ts': {
    C83: ["cause.reason === 'ResourceVersionTooLarge'", "cause.reason === 'TooLarge'"],
    C116: ["['StoreReadError', 'ERR_KUBELOOM_STORE_READ'],", ''],
  },
  'src/reflector/reflector-session.ts': {
    C85: ['Math.floor(min + this.#host.random() * (max - min))', 'Math.floor(min)'],
    C121: ['PREPARING_MAX_MS = 90_000', 'PREPARING_MAX_MS = 900_000'],
  },
  'src/reflector/rules/step-watching.ts': {
    C86: [
      'return after(reports(error), watch({ ...memory, malformedAt }));',
      'return after(reports(error), list({ ...memory, malformedAt }));',
    ],
    C87: [
      "return after(ending, backOff(memory, 'watch', failure, now));",
      "return after(ending, backOff(memory, 'sync', failure, now));",
    ],
  },
  'src/base/backoff.ts': {
    C91: ['Math.max(delay.baseMs, Math.min(delay.atLeastMs, RETRY_AFTER_MAX_MS))', 'delay.baseMs'],
    C112: ['now - next.firstAt <= maxMs', 'now - next.firstAt < maxMs'],
    C119: ['now - backoff.healthySince >= HEALTHY_AFTER_MS', 'true'],
  },
  'src/http/watchdog.ts': {
    C92: ['if (this.#isPaused) this.touch();', 'void 0;'],
    C117: ['QUIET_MAX_MS = 30_000', 'QUIET_MAX_MS = 300_000'],
  },
  'src/http/credentials/exec-credentials.ts': {
    C114: ['this.#run ??= this.#start(command, request)', 'this.#run = this.#start(command, request)'],
  },
  'src/http/credentials/credentials.ts': {
    C115: ['if (!tokenFile) return', 'if (!tokenFile || token) return'],
  },
  'src/reflector/reports.ts': { C120: ['>= PROGRESS_INTERVAL_MS', '>= 0'] },
});
