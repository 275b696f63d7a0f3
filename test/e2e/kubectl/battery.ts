/** Runs a list of kubectl commands at a server, and returns outputs that two servers can have in common. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const FOLDER = new URL('../../../../test/e2e/kubectl/', import.meta.url);
const NAMESPACE = 'team';

/** The end of a command. */
export interface Outcome {
  readonly command: string;
  /** Exit code, standard output and standard error, without values that differ from run to run. */
  readonly text: string;
}

/** Returns the commands of `commands.txt`, without comments. */
export async function readCommands(): Promise<string[]> {
  const lines = (await readFile(new URL('commands.txt', FOLDER), 'utf8')).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** Patterns of values that differ from run to run, in the order of their replacement. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/https?:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/(resourceVersion"?: ?)"\d+"/g, '$1"VERSION"'],
  [/(Resource Version:\s+)\d+/g, '$1VERSION'],
  [/\b(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+[smhdy]\b/g, 'AGE'],
  [/\/tmp\/[^ ]*/g, 'FILE'],
  // A slow machine makes kubectl report that it waits.
  [/^I\d{4} .* Waited .*\n/gm, ''],
  [/^[IWE]\d{4} [\d:.]+ +\d+ /gm, 'LOG '],
  [/eyJ[\w.-]+/g, 'TOKEN'],
  // The width of a column follows from its longest value, and a rule below a title from the title.
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

function normal(text: string): string {
  return VARYING.reduce((now, [pattern, words]) => now.replaceAll(pattern, words), text);
}

/** Returns what a kind's explanation says without its descriptions, which the embedded apiserver leaves out for built-in kinds. */
function withoutDescriptions(text: string): string {
  const kept = text.split('\n').filter((line) => /^\S|\t<|^ +enum:/.test(line));
  return kept.filter((line) => !/^ {4}https?:/.test(line)).join('\n');
}

function outcomeOf(command: string, code: number | null, out: string, err: string): Outcome {
  const isBuiltIn = command.startsWith('explain') && !out.includes('example.com');
  const shown = isBuiltIn ? withoutDescriptions(out) : out;
  return { command, text: normal(`exit ${code}\n${shown}${err}`).trimEnd() };
}

/** Runs the commands one after another at the cluster of a kubeconfig. */
export async function runBattery(kubeconfig: string, commands: readonly string[]): Promise<Outcome[]> {
  const home = await mkdtemp(join(tmpdir(), 'kubeloom-battery-'));
  const path = join(home, 'kubeconfig');
  await writeFile(path, kubeconfig);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    KUBECONFIG: path,
    KUBECTL_EXTERNAL_DIFF: 'diff -u -N',
  };
  const run = (args: readonly string[]): Promise<[number | null, string, string]> =>
    new Promise((resolve, reject) => {
      const child = spawn(KUBECTL, args, { cwd: FOLDER, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [out, err] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
      child.once('error', reject);
      child.once('close', (code) => resolve([code, out, err]));
    });
  const outcomes: Outcome[] = [];
  try {
    await run(['config', 'set-context', '--current', `--namespace=${NAMESPACE}`]);
    for (const command of commands) outcomes.push(outcomeOf(command, ...(await run(command.split(' ')))));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  return outcomes;
}
