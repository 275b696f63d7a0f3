/** Runs the command line as a separate process and lets a test wait for its output. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../../src/tools/cli/main.js', import.meta.url));

const DEADLINE_MS = 60_000;

export class CommandRun implements AsyncDisposable {
  stdout = '';
  stderr = '';
  /** The exit code; null after a signal that the process did not handle. */
  readonly exitCode: Promise<number | null>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #waiters = new Set<() => void>();
  #hasExited = false;

  /** @param command the words before the arguments: another installation, or another runtime */
  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    [program = '', ...words]: readonly string[] = [process.execPath, MAIN],
  ) {
    this.#child = spawn(program, [...words, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, KUBECONFIG: '', ...environment },
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#changed();
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#changed();
    });
    this.exitCode = once(this.#child, 'close').then(([code]) => {
      this.#hasExited = true;
      this.#changed();
      return code as number | null;
    });
  }

  /** Resolves when the output matches; rejects when the command ended before. */
  async until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<void> {
    while (!pattern.test(this[stream])) {
      if (this.#hasExited) throw new Error(`ended before ${pattern}:\n${this.stdout}\n${this.stderr}`);
      await this.#change(`no ${pattern} in`);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Closes the pipes of the output. */
  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  get stdoutLines(): string[] {
    return this.stdout.split('\n').filter((line) => line !== '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasExited) this.#child.kill('SIGKILL');
    await this.exitCode;
  }

  /** A deadline so late that only a hanging process reaches it. */
  #change(missing: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error(`${missing}:\n${this.stdout}\n${this.stderr}`));
      const timer = setTimeout(fail, DEADLINE_MS);
      this.#waiters.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #changed(): void {
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
  }
}

/** A command that ends by itself. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  await using run = new CommandRun(args, environment);
  const exitCode = await run.exitCode;
  return { exitCode, stdout: run.stdout, stderr: run.stderr };
}

/** A folder that is deleted after the test. */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(folder: string) {
    this.path = folder;
  }

  static async create(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(path.join(tmpdir(), 'kubeloom-cli-')));
  }

  file(name: string): string {
    return path.join(this.path, name);
  }

  async write(name: string, content: string): Promise<string> {
    await writeFile(this.file(name), content);
    return this.file(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}
