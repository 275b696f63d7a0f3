/**
 * Mutants of the clauses about factories, caches of kinds, writing back, and the transport's treatment of responses.
 */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const MANY_MUTANTS: readonly Mutant[] = inFiles({
  'src/informer/factory/informer-factory.ts': {
    C156: ['this.#held.set(keyOfResource(resource), held);', ''],
    C157: ['if (this.#isShutDown)\n            return;', ''],
    C159: ['{ ...how, signal: forMany(signal) }', '{ ...how }'],
  },
  'src/base/signal-options.ts': { C415: ['checkOptions(`options of ${call}`, options, CHECKS);', ''] },
  'src/informer/wait-for.ts': { C158: ['over.abort(error)', 'void error'] },
  'src/informer/tweak.ts': { C160: ['delete requested[name];', ''] },
  'src/informer/informer-options.ts': {
    C161: ['watch: header(`${PARTIAL}${IN_META}`, JSON_TYPE)', "watch: 'application/json'"],
  },
  'src/informer/factory/shared-informer-factory.ts': {
    C162: ["kind !== '' && isNamespaced !== undefined", "kind !== ''"],
  },
  'src/informer/map/namespace-informer.ts': {
    C163: [
      'this.#object !== undefined || this.informer(view) !== undefined',
      "depth === 'object' && this.#object !== undefined",
    ],
  },
  'src/informer/map/view-registration.ts': {
    C164: ['if (isSame)', 'if (false)'],
    C166: ['from.removeEventHandler(registration, { drain: true })', 'from.removeEventHandler(registration)'],
  },
  'src/informer/map/kind-cache.ts': { C165: ['if (this.#closing)\n            throw', 'if (false) throw'] },
  'src/informer/map/query.ts': { C167: ['if (key <= after)', 'if (key < after)'] },
  'src/kube/model/times.ts': {
    C168: ['return this.original ?? super.toISOString();', 'return super.toISOString();'],
  },
  'src/kube/model/converter.ts': {
    C169: ['if (key === PROTOTYPE_KEY)', 'if (false)'],
  },
  'src/http/response-parser-head.ts': { C170: ['coding !== undefined && length !== undefined', 'false'] },
  'src/reflector/session-response.ts': {
    C171: ['Buffer.from(chunk.subarray(input.position))', 'chunk.subarray(input.position)'],
  },
  'src/http/http1-connection.ts': {
    C172: ['this.#rules.isRepeatable && this.#parser.isUntouched', 'this.#rules.isRepeatable'],
  },
});
