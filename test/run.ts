/**
 * Runs the files of a suite with the runner of Node: `npm test`, and the suites of `suites.ts` that consist of test files.
 * Quick files of a room share a process.
 *
 *   npm test -- --test-name-pattern C44         arguments of `node --test`
 *   npm run suite -- slow --part 2/3            every third file, from the second on
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupTests } from './groups.ts';
import type { TestFile } from './groups.ts';
import { HANG_MS } from './kit/hang.ts';

interface Kind {
  /** The end of the names of the compiled files. */
  readonly files: RegExp;
  readonly processes: number;
}

const QUICK: Kind = { files: /\.test\.js$/, processes: 3 };
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['slow', { files: /\.slow\.js$/, processes: 1 }],
  ['package', { files: /^package\/package\.slow\.js$/, processes: 1 }],
  ['e2e', { files: /\.e2e\.js$/, processes: 1 }],
  ['kubectl', { files: /\.kubectl\.js$/, processes: 1 }],
  ['browser', { files: /\.browser\.js$/, processes: 1 }],
]);

const TESTS = import.meta.dirname;
const GROUPS = join(TESTS, 'groups');
/** The runner applies one limit to a test and to a process of many tests. */
const PROCESS_HANG_MS = 10 * HANG_MS;

function filesOf({ files }: Kind): TestFile[] {
  const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => files.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(TESTS, path), 'utf8') }));
}

/** Returns the files for the runner: a file that is alone, or a new file that imports those of a group. */
function writeGroups(files: readonly TestFile[]): string[] {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS);
  return groupTests(files).map((group, index) => {
    const [first = '', ...others] = group;
    if (others.length === 0) return join(TESTS, first);
    const entry = join(GROUPS, `${index}-${first.split('/')[1]}.js`);
    writeFileSync(entry, group.map((path) => `import '../${path}';\n`).join(''));
    return entry;
  });
}

/** Takes `--part K/N` from the arguments. @returns the files of that part */
function partOf(files: readonly TestFile[], args: string[]): readonly TestFile[] {
  const at = args.indexOf('--part');
  if (at === -1) return files;
  const [, part = ''] = args.splice(at, 2);
  const [, number, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(part) ?? [];
  if (number === undefined || Number(number) > Number(count))
    throw new Error(`--part ${part}: pass 1/3, 2/3 …`);
  return files.filter((_, index) => index % Number(count) === Number(number) - 1);
}

const given = process.argv.slice(2);
const named = KINDS.get(given[0] ?? '');
const kind = named ?? QUICK;
const args = named ? given.slice(1) : given;
const files = partOf(filesOf(kind), args);
if (files.length === 0) throw new Error(`there is no file ${kind.files.source} below ${TESTS}`);
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${kind.processes}`,
    `--import=${join(TESTS, 'kit/file-deadline.js')}`,
    `--test-timeout=${PROCESS_HANG_MS}`,
    `--test-reporter=${process.env['TEST_REPORTER'] ?? 'spec'}`,
    ...args,
    ...(kind === QUICK ? writeGroups(files) : files.map(({ path }) => join(TESTS, path))),
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
