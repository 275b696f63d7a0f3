/**
 * `npm run release`: publishes the package, with the arguments of `npm publish`. Refuses while something is missing.
 * npm runs it with `--check` before every other way to publish, too.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { objections } from './publishable.ts';

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

const reasons = objections({
  manifest: JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<Record<string, unknown>>,
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  uncommitted: run('git', ['status', '--porcelain'], 'pipe').stdout,
});
if (reasons.length > 0) {
  console.error(`kubeloom is not published:\n${reasons.map((reason) => `- ${reason}`).join('\n')}`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check')) {
  process.exitCode = run('npm', ['publish', ...process.argv.slice(2)], 'inherit').status;
}
