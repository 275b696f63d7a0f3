/** Runs an example as its user would: in a separate process with $KUBECONFIG, whose output a test can read. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from '../kit/hang.ts';

/** The compiled programs: of this repository, or copies beside an installed package. */
const FOLDER =
  process.env['EXAMPLES_FOLDER'] ?? fileURLToPath(new URL('../../docs/examples', import.meta.url));
/** The words before the path of a program, as JSON: another runtime. */
const [COMMAND = '', ...COMMAND_ARGS] = JSON.parse(
  process.env['EXAMPLES_COMMAND'] ?? JSON.stringify([process.execPath]),
) as readonly string[];

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  /** `0`, `1`, `SIGKILL`. */
  readonly end: string;
}

export class Program implements AsyncDisposable {
  readonly outcome: Promise<Outcome>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #waiters: Set<() => void> = new Set();
  #stdout = '';
  #stderr = '';
  #hasEnded = false;

  /** @param others kubeconfigs of further clusters: a program for several receives all paths as its arguments */
  constructor(name: string, kubeconfigPath: string, ...others: readonly string[]) {
    const args = others.length > 0 ? [kubeconfigPath, ...others] : [];
    const { NODE_ENV: _production, ...environment } = process.env;
    this.#child = spawn(COMMAND, [...COMMAND_ARGS, join(FOLDER, `${name}.js`), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment, KUBECONFIG: kubeconfigPath },
      timeout: HANG_MS,
      killSignal: 'SIGKILL',
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#changed();
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.outcome = this.#ended();
  }

  /** Resolves when it has printed the line; rejects when it ended without. */
  async printed(line: string): Promise<void> {
    while (!`\n${this.#stdout}`.includes(`\n${line}\n`)) {
      if (this.#hasEnded) throw new Error(`ended without printing ${JSON.stringify(line)}`);
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
    }
  }

  /** Sends the signal of Ctrl-C, or the one for a stopped container. */
  stop(signal: 'SIGINT' | 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    await this.outcome;
  }

  async #ended(): Promise<Outcome> {
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, string | null];
    this.#hasEnded = true;
    this.#changed();
    return { stdout: this.#stdout, stderr: this.#stderr, end: signal ?? String(code) };
  }

  #changed(): void {
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
  }
}
