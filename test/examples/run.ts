/**
 * `npm run examples`: runs every program of docs/examples against its own embedded apiserver and compares the output
 * with the expected file. Then SIGTERM ends it at several moments. With names as arguments it runs only these.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { Program } from './program.ts';
import { exampleNames, expectedOutput, startServer } from './repository.ts';
import { SampleControllerScenario, obstruct } from './sample-controller-scenario.ts';
import { stoppingComplaint } from './stopping.ts';
import { complaint } from './verdict.ts';

/** Runs it; failures of its environment count as well. */
async function judge(name: string, folder: string): Promise<string | undefined> {
  await using server = await startServer();
  const kubeconfigPath = join(folder, `${name}.kubeconfig`);
  await writeFile(kubeconfigPath, server.kubeConfigYaml, { mode: 0o600 });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(server.kubeConfigYaml);
  const isController = name === 'sample-controller';
  if (isController) await obstruct(kubeConfig);
  await using program = new Program(name, kubeconfigPath);
  let trouble = '';
  // All other programs make their changes themselves.
  if (isController) {
    await new SampleControllerScenario(kubeConfig, program).play().catch((error: unknown) => {
      trouble = `${String(error)}\n`;
      program.stop('SIGINT');
    });
  }
  const found = complaint(await expectedOutput(name), await program.outcome);
  if (trouble !== '') return `${trouble}${found ?? ''}`;
  return found ?? (await stoppingComplaint(name, folder));
}

async function main(chosen: readonly string[]): Promise<void> {
  const all = await exampleNames();
  const unknown = chosen.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no such examples: ${unknown.join(', ')}`);
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-examples-'));
  let failed = 0;
  const names = chosen.length > 0 ? chosen : all;
  try {
    for (const name of names) {
      const found = await judge(name, folder).catch((error: unknown) => String(error));
      process.stdout.write(
        found === undefined ? `ok      ${name}\n` : `FAILED  ${name}\n${indented(found)}\n`,
      );
      if (found !== undefined) failed++;
    }
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
