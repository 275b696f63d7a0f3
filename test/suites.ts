/**
 * The suites beside the quick tests, and the programs that write documents from code: `npm run suite -- NAME`. Pure data;
 * `test/README.md` lists the same names, and a test compares the two.
 */

export interface Suite {
  /** The question that the suite answers, or the document that it writes. */
  readonly what: string;
  /** Compiled programs below `dist`, with arguments; the last receives the arguments of the command line. */
  readonly programs: readonly (readonly string[])[];
  /** True when the suite reads the declarations of the package, which only a whole build writes. */
  readonly isOfPackage?: true;
}

const TESTS = 'test/run.js';

export const SUITES: Readonly<Record<string, Suite>> = {
  contract: {
    what: 'does each clause hold in every configuration, and kill its mutant?',
    programs: [['test/contract/run.js']],
  },
  sim: {
    what: 'does a random schedule of faults break a promise?',
    programs: [['test/sim/run.js']],
  },
  'sim-faults': {
    what: 'do the fault cases of the simulator hold with other seeds? --seeds 20, --case 5',
    programs: [['test/sim/faults/run.js']],
  },
  mutants: {
    what: 'does the oracle of the simulator see each of its mutants?',
    programs: [['test/sim/mutants/run.js']],
  },
  faults: {
    what: 'does each fault that needs real sockets, threads or processes lead to the promised end?',
    programs: [['test/faults/run.js']],
  },
  fuzz: {
    what: 'does hostile input end with a code or the right value?',
    programs: [['test/fuzz/run.js']],
  },
  slow: {
    what: 'do whole programs, many threads, the packed package and memory behave?',
    programs: [[TESTS, 'slow']],
    isOfPackage: true,
  },
  package: {
    what: 'does the packed package install, load, compile and run the programs of the README?',
    programs: [[TESTS, 'package']],
    isOfPackage: true,
  },
  examples: {
    what: 'do the programs of docs/examples print what they should?',
    programs: [['test/examples/run.js']],
  },
  kubectl: {
    what: 'does the real kubectl work with the embedded apiserver?',
    programs: [[TESTS, 'kubectl']],
  },
  browser: {
    what: 'do the pages of load tests and the site work in Chromium?',
    programs: [[TESTS, 'browser']],
    isOfPackage: true,
  },
  e2e: {
    what: 'does everything work against a real kube-apiserver and etcd? Needs Go.',
    programs: [['test/e2e/prepare.js'], [TESTS, 'e2e']],
  },
  soak: {
    what: 'does a program with threads, a pool and a group come to rest after faults, for minutes or hours?',
    programs: [['test/soak/run.js']],
  },
  runtimes: {
    what: 'do the suites hold on every maintained line of Node, and the installed package on Bun and Deno?',
    programs: [['test/runtimes/run.js']],
    isOfPackage: true,
  },
  figures: {
    what: 'what do sharded watches and large lists cost at a real kube-apiserver? Needs Go.',
    programs: [['bench/kube-apiserver/run.js']],
  },
  clauses: {
    what: 'writes the order of the clauses and the tests below each clause into docs/contract.md',
    programs: [['test/contract/write-clauses.js']],
  },
  errors: {
    what: 'writes docs/errors.md from the table of codes',
    programs: [['test/unit/docs/write-errors.js']],
  },
  metrics: {
    what: 'writes docs/metrics-table.md from the table of metrics',
    programs: [['test/unit/docs/write-metrics.js']],
  },
  shapes: {
    what: 'writes the table of built-in kinds of the embedded apiserver from a real kube-apiserver. Needs Go.',
    programs: [['test/e2e/prepare.js'], ['test/e2e/shapes/write-shapes.js']],
  },
  'report-picture': {
    what: 'writes docs/loadtest/report.png from a run. Needs Go and Chromium.',
    programs: [['test/e2e/report-picture.js']],
  },
  'record-top': {
    what: 'writes the screen of docs/top.md',
    programs: [['test/unit/docs/record-top.js']],
  },
};
