/** The frame of a client program: reads the task, and prints a line, even if the program fails. */
import type { Outcome, Task } from '../task.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export type Result = Partial<Omit<Outcome, 'client' | 'version' | 'runtime' | 'rssBytes' | 'error'>>;

const KIB = 1024;
const RUNTIME = `Node ${process.versions.node}`;

/** @param run resolves with the measurements; the process then ends, whatever is still open. */
export async function runProgram(
  client: string,
  version: string,
  run: (task: Task) => Promise<Result>,
): Promise<never> {
  const nothing = { events: 0, elapsedMs: 0, cpuMs: 0, checksum: 0 };
  let outcome: Outcome;
  const rss = (): number => process.resourceUsage().maxRSS * KIB;
  try {
    const task = JSON.parse(process.argv.at(-1) ?? '') as Task;
    const failed = new Promise<never>((_, reject) => {
      process.on('uncaughtException', reject);
      process.on('unhandledRejection', reject);
    });
    const result = await Promise.race([run(task), failed]);
    outcome = { client, version, runtime: RUNTIME, ...nothing, ...result, rssBytes: rss() };
  } catch (error) {
    outcome = { client, version, runtime: RUNTIME, ...nothing, rssBytes: rss(), error: errorText(error) };
  }
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(outcome)}\n`, resolve));
  process.exit(0);
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return `${error.message}${code}`;
}

/** @param entry URL of a file in the package */
export function packageVersion(entry: string): string {
  let folder = path.dirname(fileURLToPath(entry));
  while (folder !== path.dirname(folder)) {
    const version = versionIn(path.join(folder, 'package.json'));
    if (version !== undefined) return version;
    folder = path.dirname(folder);
  }
  return 'unknown';
}

function versionIn(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
  } catch {
    return undefined;
  }
}
