/**
 * The house rules as data: which part of `src` may import which. A part is a folder or a file directly in
 * `src` (or, named in full, a file in a folder that more may import than the rest of it).
 *
 * Stages of the pipeline never import each other: only ring, log and record lie between them, and the
 * vocabulary that everybody speaks. Change this table when the architecture changes, and say so in
 * docs/decisions.
 */

const VOCABULARY = ['errors.ts', 'clock.ts', 'done-checker.ts', 'loopback.ts', 'on-abort.ts', 'printable.ts'];
/** What Kubernetes says, and JSON as bytes. */
const LANGUAGE = [...VOCABULARY, 'kube', 'json'];
const SHARED_MEMORY = ['ring', 'log', 'record'];
/** All that a stage may know of the others. */
const BETWEEN_STAGES = [...LANGUAGE, ...SHARED_MEMORY, 'options.ts', 'threads/protocol.ts'];
const STAGES = ['transport', 'reflector', 'indexer', 'processor', 'store'];
/** The folder, and the file in it that has a row of its own. */
const CACHE = ['cache', 'cache/store.ts'];
/** What users hold is built from everything beneath it. */
const BENEATH_INFORMER = [...BETWEEN_STAGES, ...STAGES, ...CACHE, 'queue', 'controller', 'threads'];

export const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'errors.ts': ['printable.ts'],
  'clock.ts': [],
  'done-checker.ts': [],
  'on-abort.ts': [],
  'loopback.ts': [],
  'printable.ts': [],
  'options.ts': ['errors.ts', 'log', 'ring'],
  json: ['errors.ts'],
  kube: [...VOCABULARY, 'json'],

  ring: ['errors.ts'],
  log: ['errors.ts', 'ring'],
  record: ['errors.ts', 'ring'],
  packing: [],
  'threads/protocol.ts': ['errors.ts'],

  transport: BETWEEN_STAGES,
  reflector: [...BETWEEN_STAGES, 'transport'],
  indexer: BETWEEN_STAGES,
  store: [...BETWEEN_STAGES, 'packing', 'cache/store.ts'],
  'cache/store.ts': [],
  processor: [...BETWEEN_STAGES, 'store'],

  // Which class runs on which thread: the one place that knows all stages.
  threads: [...BETWEEN_STAGES, ...STAGES],
  // client-go's lower layers, on one thread and generic: usable on their own.
  cache: [...LANGUAGE, 'store'],
  queue: [...LANGUAGE, ...CACHE],
  controller: [...BETWEEN_STAGES, 'transport', 'reflector', ...CACHE, 'queue'],

  // Who writes to what is shared: usable on its own, and switched on by informers.
  mutation: [...LANGUAGE, 'options.ts'],

  informer: [...BENEATH_INFORMER, 'mutation'],

  // Informers by group, version and resource.
  factory: [...BENEATH_INFORMER, 'informer'],

  // Caches by kind over informers.
  'informers-map': [...BENEATH_INFORMER, 'informer', 'factory'],

  // What is read, in the words of the client that writes it.
  model: LANGUAGE,

  // Independent of the pipeline.
  workqueue: VOCABULARY,
  embedded: LANGUAGE,
  // The test kit that users get.
  testing: [...BENEATH_INFORMER, 'informer', 'embedded'],

  cli: [...BENEATH_INFORMER, 'informer', 'workqueue', 'embedded'],
  'index.ts': [...BENEATH_INFORMER, 'mutation', 'informer', 'informers-map', 'model', 'factory', 'workqueue'],
};

/** Where execution starts: package exports, the command line. All of `workers/` are entries as well. */
export const ENTRY_POINTS: readonly string[] = ['src/index.ts', 'src/testing/index.ts', 'src/cli/main.ts'];

export const ATOMICS_ALLOWED: readonly string[] = ['src/ring/', 'src/log/'];
export const FILE_LINES_MAX = 400;
export const FUNCTION_LINES_MAX = 70;
export const BANNED_NAMES: readonly string[] = ['util', 'utils', 'helper', 'helpers'];
