/**
 * The steps that prove a commit, as data. CI runs a core and a suite that the commit's hash chooses; `npm run prove` runs every
 * step. Pure.
 */
import { turnAmong } from '../runtimes/commit.ts';

export interface ProofStep {
  readonly name: string;
  /** A shell command, run in the root of the repository. */
  readonly command: string;
  /** Programs that the step needs, by their Debian packages; CI installs them, and elsewhere the step is left out by name. */
  readonly debian?: Readonly<Record<string, string>>;
  /** True when the step needs Go, and the control plane that Go builds. */
  readonly needsGo?: true;
  /** True when no other step can run after this step has failed. */
  readonly isNeeded?: true;
}

const suite = (name: string, args = ''): string => `npm run --silent suite -- ${name} ${args}`.trim();

const DEBIAN_KUBECTL = { kubectl: 'kubernetes-client' };
const KUBECTL: ProofStep = {
  name: 'kubectl against the embedded apiserver',
  command: suite('kubectl'),
  debian: DEBIAN_KUBECTL,
};
const BROWSER: ProofStep = {
  name: 'pages of load tests and the site in Chromium',
  command: suite('browser'),
  debian: { chromium: 'chromium' },
};
const slow = (part: number): ProofStep => ({
  name: `slow suites, part ${part} of ${SLOW_PARTS}`,
  command: suite('slow', `--part ${part}/${SLOW_PARTS}`),
});
const e2e = (part: number): ProofStep => ({
  name: `end to end at a real kube-apiserver, part ${part} of ${E2E_PARTS}`,
  command: suite('e2e', `--part ${part}/${E2E_PARTS}`),
  debian: DEBIAN_KUBECTL,
  needsGo: true,
});
const soak = (minutes: number): ProofStep => ({
  name: `soak of ${minutes} minutes`,
  command: suite('soak', `--minutes ${minutes} --embedded`),
});

const SLOW_PARTS = 3;
const E2E_PARTS = 3;
const FIFTHS = 5;
const OTHER_RUNTIMES = ['22', '24', '26', 'bun', 'deno'] as const;

/** Steps that take turns, by the name for `--turn`. */
export const TURNS: Readonly<Record<string, readonly ProofStep[]>> = {
  ...Object.fromEntries(numbers(E2E_PARTS).map((part) => [`e2e-${part}`, [e2e(part)]])),
  ...Object.fromEntries(numbers(SLOW_PARTS).map((part) => [`slow-${part}`, [slow(part)]])),
  ...Object.fromEntries(
    OTHER_RUNTIMES.map((runtime) => [
      `runtime-${runtime}`,
      [
        {
          name: `the installed package, the examples and the looks at an object on ${runtime}`,
          command: suite('runtimes', `--installed ${runtime}`),
        },
      ],
    ]),
  ),
  kubectl: [KUBECTL, { name: 'benchmarks: every case, tiny', command: 'npm run --silent bench -- --smoke' }],
  browser: [BROWSER],
  soak: [soak(3)],
};

const FIRST: readonly ProofStep[] = [
  { name: 'types, lint, format', command: 'npm run --silent check', isNeeded: true },
  { name: 'the public surface', command: 'npm run --silent api' },
  { name: 'quick tests', command: 'npm test' },
];
const SIMULATOR: ProofStep = { name: 'simulator: 200 seeds', command: suite('sim', '--seeds 200') };
const MUTANTS: ProofStep = { name: 'simulator: mutants of the oracle', command: suite('mutants') };
const FAULTS: ProofStep = { name: 'faults of real sockets, threads and processes', command: suite('faults') };
const DEMO: ProofStep = { name: 'main job: the demo proves itself', command: 'npm start --silent -- --json' };

/** Returns the turn of a commit. @param commit hexadecimal digits */
export function turnOf(commit: string): string {
  const names = Object.keys(TURNS);
  return names[turnAmong(names.length, commit)] ?? '';
}

/**
 * Returns the steps of CI.
 *
 * @param turn a name of `TURNS`
 * @param commit hexadecimal digits; they choose the cases of which a part runs
 */
export function stepsOfCi(turn: string, commit: string): readonly ProofStep[] {
  const fifth = 1 + turnAmong(FIFTHS - 1, commit);
  return [
    ...FIRST,
    { name: 'contract: two configurations, and a third by turn', command: suite('contract', '--turn') },
    SIMULATOR,
    MUTANTS,
    FAULTS,
    {
      name: `fuzz: a fifth of the cases, and fifth ${fifth}`,
      command: suite('fuzz', `--seed 1 --fifths 0,${fifth}`),
    },
    { name: 'contract: mutants for a minute', command: suite('contract', '--mutants --turn --minutes 1') },
    { name: 'the packed package installs, loads, compiles, runs the README', command: suite('package') },
    DEMO,
    ...(TURNS[turn] ?? []),
  ];
}

/** Returns every step. */
export function allSteps(): readonly ProofStep[] {
  return [
    ...FIRST,
    { name: 'contract: every configuration', command: suite('contract') },
    { name: 'contract: every mutant', command: suite('contract', '--mutants') },
    SIMULATOR,
    { name: 'simulator: fault cases with 20 seeds', command: suite('sim-faults', '--seeds 20') },
    MUTANTS,
    FAULTS,
    { name: 'fuzz: every case', command: suite('fuzz', '--seed 1') },
    DEMO,
    { name: 'benchmarks: every case, tiny', command: 'npm run --silent bench -- --smoke' },
    { name: 'examples', command: suite('examples') },
    { name: 'slow suites', command: suite('slow') },
    KUBECTL,
    BROWSER,
    {
      name: 'end to end at a real kube-apiserver',
      command: suite('e2e'),
      debian: DEBIAN_KUBECTL,
      needsGo: true,
    },
    { name: 'every runtime', command: suite('runtimes') },
    soak(10),
  ];
}

/** Steps of `npm run prove -- --slow`: proofs that a slow machine must not refuse. */
export const SLOW_MACHINE_STEPS: readonly ProofStep[] = [
  { name: 'quick tests', command: 'npm test' },
  { name: 'contract: two configurations', command: suite('contract', '--quick') },
  FAULTS,
];

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
