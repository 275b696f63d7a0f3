/**
 * `npm run suite -- examples`: runs every program of docs/examples against its own embedded apiserver and compares the output
 * with the expected file. Then SIGTERM ends it at several moments. With names as arguments it runs only these. Programs of an
 * installed package (`EXAMPLES_COMMAND`, for `npm run release`) are not ended early.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parallelizeUntil } from '../../src/workqueue/index.ts';
import type { Program } from './program.ts';
import { clustersOf, exampleNames, expectedOutput, startProgram, startServer } from './repository.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';
import { stoppingComplaint } from './stopping.ts';
import { complaint } from './verdict.ts';

/** Programs that run at the same time: each is a process with threads, and so is its server. */
const LANES = 2;

/** Runs it; failures of its environment count as well. */
async function judge(name: string, folder: string): Promise<string | undefined> {
  await using server = await startServer();
  await using further = clustersOf(name).length > 1 ? await startServer() : undefined;
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(server.kubeConfigYaml);
  const scenario = SCENARIOS[name];
  await scenario?.prepare?.(kubeConfig);
  const yamls = further ? [further.kubeConfigYaml] : [];
  await using program = await startProgram(name, folder, server.kubeConfigYaml, ...yamls);
  const trouble = scenario && (await played(scenario, kubeConfig, program));
  const found = complaint(await expectedOutput(name), await program.outcome);
  if (trouble !== undefined) return `${trouble}\n${found ?? ''}`;
  if (found !== undefined || process.env['EXAMPLES_COMMAND'] !== undefined) return found;
  return stoppingComplaint(name, folder, server.kubeConfigYaml);
}

/** Plays the scenario and ends the program; returns the reason if the scenario failed. */
async function played(
  scenario: Scenario,
  kubeConfig: KubeConfig,
  program: Program,
): Promise<string | undefined> {
  try {
    await scenario.play(kubeConfig, program);
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    program.stop('SIGINT');
  }
}

async function main(chosen: readonly string[]): Promise<void> {
  const all = await exampleNames();
  const unknown = chosen.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no such examples: ${unknown.join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-examples-'));
  let failed = 0;
  const names = chosen.length > 0 ? chosen : all;
  try {
    await parallelizeUntil(LANES, names.length, async (index) => {
      const name = names[index] ?? '';
      const found = await judge(name, folder).catch((error: unknown) => String(error));
      process.stdout.write(
        found === undefined ? `ok      ${name}\n` : `FAILED  ${name}\n${indented(found)}\n`,
      );
      if (found !== undefined) failed++;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  process.stdout.write(`${names.length - failed} passed, ${failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '        ');
}

await main(process.argv.slice(2));
