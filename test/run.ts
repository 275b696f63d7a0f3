/**
 * Runs the files of a suite with the runner of Node: `npm test`, `npm run slow`, `npm run e2e` … Quick files of a room share
 * a process.
 *
 *   npm test -- --test-name-pattern C44    arguments of `node --test`
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupTests } from './groups.ts';
import type { TestFile } from './groups.ts';

interface Suite {
  readonly suffix: string;
  readonly processes: number;
  /** Limit for a test, and for a process. */
  readonly timeoutMs: number;
}

const QUICK: Suite = { suffix: '.test.js', processes: 3, timeoutMs: 300_000 };
const SUITES: ReadonlyMap<string, Suite> = new Map([
  ['slow', { suffix: '.slow.js', processes: 1, timeoutMs: 1_200_000 }],
  ['e2e', { suffix: '.e2e.js', processes: 1, timeoutMs: 900_000 }],
  ['kubectl', { suffix: '.kubectl.js', processes: 1, timeoutMs: 600_000 }],
  ['browser', { suffix: '.browser.js', processes: 1, timeoutMs: 600_000 }],
]);

const TESTS = import.meta.dirname;
const GROUPS = join(TESTS, 'groups');

function filesOf({ suffix }: Suite): TestFile[] {
  const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => path.endsWith(suffix))
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

const [name = '', ...others] = process.argv.slice(2);
const suite = SUITES.get(name) ?? QUICK;
const files = filesOf(suite);
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${suite.processes}`,
    `--import=${join(TESTS, 'kit/file-deadline.js')}`,
    `--test-timeout=${suite.timeoutMs}`,
    `--test-reporter=${process.env['TEST_REPORTER'] ?? 'spec'}`,
    ...(suite === QUICK ? process.argv.slice(2) : others),
    ...(suite === QUICK ? writeGroups(files) : files.map(({ path }) => join(TESTS, path))),
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
