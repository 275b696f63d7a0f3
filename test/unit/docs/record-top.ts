/**
 * `npm run suite -- record-top`: records the frame of docs/top.md. A real `kubeloom top --json` watches an embedded apiserver under a
 * load that changes; its lines become a frame as on a terminal.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedApiServer } from '../../../src/tools/apiserver/run/start.ts';
import type { StatsSnapshot } from '../../../src/metrics/snapshot.ts';
import { frame } from '../../../src/tools/cli/top/top-frame.ts';
import { initialTop, stepTop } from '../../../src/tools/cli/top/top-state.ts';
import type { TopState } from '../../../src/tools/cli/top/top-state.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { CommandRun } from '../tools/cli/command.ts';
import { ROOT } from './documents.ts';

const PAGE = join(ROOT, 'docs/top.md');
const PODS = 5000;
/** Changes in a second, one load after the other. */
const RATES = [300, 1500, 600];
const LOAD_MS = 21_000;
const RESOURCES = ['pods', 'nodes', 'deployments.apps'];

/** Returns the state after the lines of `--json`. */
function stateAfter(lines: readonly string[]): TopState {
  return lines.reduce((state, line) => {
    const snapshot = JSON.parse(line) as StatsSnapshot;
    return stepTop(state, { type: 'snapshot', snapshot });
  }, initialTop('kubeloom top · kubeloom-embedded'));
}

/** Replaces the text after `<!-- recorded -->`. */
function record(page: string, lines: readonly string[]): string {
  const place = /(<!-- recorded -->\n)```text\n[^]*?```\n/;
  if (!place.test(page)) throw new Error(`${PAGE} has no place for the frame`);
  return page.replace(place, (_, marker: string) => `${marker}\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`);
}

await using folder = new TemporaryFolder();
const server = await startEmbeddedApiServer({ isolation: 'process' });
await server.populate({ count: PODS });
const kubeconfig = folder.write('kubeconfig', server.kubeConfigYaml);
await using run = new CommandRun([
  'top',
  ...RESOURCES,
  '-A',
  '--threads',
  '2',
  '--kubeconfig',
  kubeconfig,
  '--json',
]);
await run.until('stdout', /\n/);
for (const rate of RATES) {
  await server.load({ rate, durationMs: LOAD_MS, mix: { update: 90, create: 5, delete: 5 } });
}
const underLoad = stateAfter(run.stdoutLines.slice(0, -1));
await server.close();
run.kill('SIGINT');
await run.exitCode;

writeFileSync(PAGE, record(readFileSync(PAGE, 'utf8'), frame(underLoad, 130, 18)));
