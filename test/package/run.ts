/**
 * `npm run release`: rehearses the release with the tarball that `npm publish` then receives, with this command's arguments.
 * Refuses while something is missing. `--dry-run` publishes nothing, carries out every step whatever is missing, and lists the
 * addresses that the publisher must set. npm runs the script with `--check` before every other way to publish, too.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, pack } from './installation.ts';
import { missingAddresses, objections } from './publishable.ts';
import { releaseSteps } from './release-steps.ts';
import { carryOut, reasonsOf, tableOf } from './steps.ts';
import type { Step } from './steps.ts';

/** @throws when the command cannot be started */
function run(
  command: string,
  args: readonly string[],
  stdio: 'inherit' | 'pipe',
): { status: number; stdout: string } {
  const { error, status, stdout } = spawnSync(command, args, { stdio, encoding: 'utf8' });
  if (error) throw error;
  return { status: status ?? 1, stdout: stdout ?? '' };
}

function refuse(list: string): void {
  console.error(`kubeloom is not published:\n${list}`);
  process.exitCode = 1;
}

function listOf(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${sentence}`).join('\n');
}

/** @returns the tarball, unless a step has failed */
async function rehearsed(reasons: readonly string[]): Promise<string | undefined> {
  const out = join(ROOT, '.cache/release');
  mkdirSync(out, { recursive: true });
  const tarball = await pack(out);
  const folder = mkdtempSync(join(tmpdir(), 'kubeloom-release-'));
  const publishable: Step = {
    name: 'changelog, commits',
    work: async () => {
      if (reasons.length > 0) throw new Error(reasons.join('; '));
      return tarball;
    },
  };
  try {
    const steps = [publishable, ...releaseSteps(tarball, folder)];
    const outcomes = await carryOut(steps, (outcome) => console.error(tableOf([outcome])));
    console.log(`\n${tableOf(outcomes)}`);
    const list = reasonsOf(outcomes);
    if (list === '') return tarball;
    refuse(list);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const candidate = {
  manifest: JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<Record<string, unknown>>,
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  uncommitted: run('git', ['status', '--porcelain'], 'pipe').stdout,
};
const unset = missingAddresses(candidate);
const reasons = objections(candidate);
if (unset.length + reasons.length > 0 && !isDryRun) {
  refuse(listOf([...unset, ...reasons]));
} else if (!args.includes('--check')) {
  const tarball = await rehearsed(reasons);
  if (tarball !== undefined && !isDryRun)
    process.exitCode = run('npm', ['publish', tarball, ...args], 'inherit').status;
}
if (isDryRun && unset.length > 0) console.log(`\nthe publisher sets before publishing:\n${listOf(unset)}`);
