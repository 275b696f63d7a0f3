/**
 * Mutants of the clauses about factories, caches of kinds, writing back, and the transport's treatment of responses.
 */
import type { Mutant } from './mutant.ts';

export const MANY_MUTANTS: readonly Mutant[] = [
  {
    clause: 'C156',
    file: 'src/informer/factory/informer-factory.ts',
    find: 'this.#held.set(keyOfResource(resource), held);',
    replace: '',
  },
  {
    clause: 'C157',
    file: 'src/informer/factory/informer-factory.ts',
    find: 'if (this.#isShutDown)\n            return;',
    replace: '',
  },
  {
    clause: 'C158',
    file: 'src/informer/wait-for.ts',
    find: 'over.abort(error)',
    replace: 'void error',
  },
  {
    clause: 'C159',
    file: 'src/informer/factory/informer-factory.ts',
    find: '{ ...how, signal: forMany(signal) }',
    replace: '{ ...how }',
  },
  {
    clause: 'C160',
    file: 'src/informer/tweak.ts',
    find: 'delete requested[name];',
    replace: '',
  },
  {
    clause: 'C161',
    file: 'src/informer/options.ts',
    find: 'watch: `${PARTIAL}${IN_META}`',
    replace: "watch: 'application/json'",
  },
  {
    clause: 'C162',
    file: 'src/informer/factory/shared-informer-factory.ts',
    find: "kind !== '' && isNamespaced !== undefined",
    replace: "kind !== ''",
  },
  {
    clause: 'C163',
    file: 'src/informer/map/namespace-informer.ts',
    find: 'this.#object !== undefined || this.informer(view) !== undefined',
    replace: "depth === 'object' && this.#object !== undefined",
  },
  {
    clause: 'C164',
    file: 'src/informer/map/view-registration.ts',
    find: 'if (isSame)',
    replace: 'if (false)',
  },
  {
    clause: 'C165',
    file: 'src/informer/map/kind-cache.ts',
    find: 'if (this.#closing)\n            throw',
    replace: 'if (false) throw',
  },
  {
    clause: 'C166',
    file: 'src/informer/map/view-registration.ts',
    find: 'from.removeEventHandler(registration, { drain: true })',
    replace: 'from.removeEventHandler(registration)',
  },
  {
    clause: 'C167',
    file: 'src/informer/map/query.ts',
    find: 'if (key <= after)',
    replace: 'if (key < after)',
  },
  {
    clause: 'C168',
    file: 'src/kube/model/converter.ts',
    find: 'return this.original ?? super.toISOString();',
    replace: 'return super.toISOString();',
  },
  {
    clause: 'C169',
    file: 'src/kube/model/converter.ts',
    find: 'if (key === PROTOTYPE_KEY)',
    replace: 'if (false)',
  },
  {
    clause: 'C170',
    file: 'src/reflector/transport/response-parser-head.ts',
    find: 'coding !== undefined && length !== undefined',
    replace: 'false',
  },
  {
    clause: 'C171',
    file: 'src/reflector/exchange.ts',
    find: 'Buffer.from(chunk.subarray(input.position))',
    replace: 'chunk.subarray(input.position)',
  },
  {
    clause: 'C172',
    file: 'src/reflector/transport/http1-connection.ts',
    find: 'this.#isReused && this.#parser.isUntouched',
    replace: 'this.#isReused',
  },
];
