/**
 * The rooms of `src` as data, from top to bottom. A room imports only rooms below it in this table, and of these only
 * the ones that it names. The three stages are on one level and never import each other; they share `shared`. Change
 * this table when the architecture changes, and record that in docs/decisions.
 */
export interface Room {
  /** A folder of `src`, a folder of `src/tools`, or `index.ts`. */
  readonly name: string;
  readonly imports: readonly string[];
}

const STAGES = ['reflector', 'indexer', 'replica'];
const GROUND = ['kube', 'base'];
/** A tool sees what users see, requests and credentials, and the vocabulary. */
const FOR_TOOLS = ['entries', 'http', ...GROUND];

export const ROOMS: readonly Room[] = [
  // Tools: programs beside the library. Nothing of the library imports a tool.
  { name: 'tools/cli', imports: ['tools/loadtest', 'tools/apiserver', ...FOR_TOOLS] },
  { name: 'tools/loadtest', imports: ['tools/apiserver', ...FOR_TOOLS] },
  { name: 'tools/apiserver', imports: GROUND },

  // client-node's informers, made of what users see.
  { name: 'client-node', imports: ['index.ts', 'informer', ...GROUND] },

  // Controllers: users of the surface that write, and members of a group that divide the keys.
  {
    name: 'partitions',
    imports: ['controller', 'index.ts', 'informer', 'workqueue', 'http', 'shared', 'metrics', ...GROUND],
  },
  {
    name: 'controller',
    imports: ['index.ts', 'thread', 'informer', 'workqueue', 'http', 'shared', 'metrics', ...GROUND],
  },

  { name: 'index.ts', imports: ['informer', 'replica', 'http', 'shared', ...GROUND] },

  // The caches of informers, and reconcilers, in other threads of the program.
  { name: 'thread', imports: ['informer', 'replica', 'workqueue', 'metrics', 'shared', ...GROUND] },

  // client-go's generic lower layer, and its names for the threaded informers.
  { name: 'client-go', imports: ['informer', 'reflector', 'metrics', 'http', 'shared', ...GROUND] },

  // Classes that users hold.
  { name: 'informer', imports: [...STAGES, 'http', 'metrics', 'shared', ...GROUND] },

  // Stages of the pipeline.
  { name: 'replica', imports: ['metrics', 'shared', ...GROUND] },
  { name: 'indexer', imports: ['shared', ...GROUND] },
  { name: 'reflector', imports: ['http', 'shared', ...GROUND] },

  // Between the stages and the ground: requests and credentials, work queues, shared memory, metrics.
  { name: 'http', imports: ['shared', ...GROUND] },
  { name: 'workqueue', imports: ['metrics', ...GROUND] },
  { name: 'shared', imports: GROUND },
  { name: 'metrics', imports: ['base'] },

  // The ground: vocabulary, language.
  { name: 'kube', imports: ['base'] },
  { name: 'base', imports: [] },
];

/** Rooms that a file in `workers` may import: it is the entry of one thread, and wires the thread to its code. */
export const WORKER_IMPORTS: readonly string[] = [...STAGES, 'thread'];

/** The entry points: package exports, the command line. All of `workers/` are entries as well. */
export const ENTRY_POINTS: readonly string[] = [
  'src/index.ts',
  'src/client-go/index.ts',
  'src/controller/index.ts',
  'src/partitions/index.ts',
  'src/client-node/index.ts',
  'src/thread/index.ts',
  'src/workqueue/index.ts',
  'src/metrics/index.ts',
  'src/metrics/prometheus.ts',
  'src/metrics/opentelemetry.ts',
  'src/tools/apiserver/testing/index.ts',
  'src/tools/cli/main.ts',
  'src/tools/apiserver/run/server-entry.ts',
  'src/tools/loadtest/write/generator-process.ts',
  'src/tools/loadtest/watch/watcher-process.ts',
  'src/tools/loadtest/report/browser/draw.ts',
];

/** The files that touch Atomics; everything else uses their Word and Deadline, or the Bell above them. */
export const ATOMICS_ALLOWED: readonly string[] = ['src/shared/ring/word.ts', 'src/shared/ring/deadline.ts'];
/** Members that `in` may look for. No object of a server comes there: they are of options, errors, messages, results. */
export const DECIDING_MEMBERS: readonly string[] = [
  'addIfNotPresent applyToHTTPSOptions cause cert client code default durationMs exchange format',
  'getAttributeTypeMap inWork isNamespaced kind lock machine names original part popBatch port resource',
  'sendBookmarks server socketPath source subjectaltname syscall toClientNode why',
].flatMap((line) => line.split(' '));
/** Members that the code compares with true or false: fields of schemas and of the API, of which nothing of ours depends. */
export const COMPARED_MEMBERS: readonly string[] = [
  'nullable',
  'insecure-skip-tls-verify',
  'additionalProperties',
  'deprecated',
  'immutable',
  'preserveUnknownFields',
  'uniqueItems',
];
/** Files that run for one MODIFIED event, from the socket to the end of the handler's call. */
export const FILES_OF_AN_EVENT_MAX = 33;
/** Files that run for a batch of events, and not for each event in it. */
export const FILES_OF_A_BATCH_MAX = 11;
export const FILE_LINES_MAX = 500;
/** Lines from which the test of files names a file, without an error: the weight of its room counts. */
export const FILE_LINES_WARNING = 300;
export const FUNCTION_LINES_MAX = 70;
export const BANNED_NAMES: readonly string[] = ['util', 'utils', 'helper', 'helpers'];
