/** Runs the command line as a separate process and lets a test wait for its output. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { HANG_MS } from '../../../kit/hang.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

export const MAIN: string = fileURLToPath(new URL('../../../../src/tools/cli/main.js', import.meta.url));

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
    const limit = AbortSignal.timeout(HANG_MS);
    limit.addEventListener('abort', () => this.#changed());
    while (!pattern.test(this[stream])) {
      const end = this.#hasExited ? 'ended before' : limit.aborted ? 'hangs before' : undefined;
      if (end !== undefined) throw new Error(`${end} ${pattern}:\n${this.stdout}\n${this.stderr}`);
      await new Promise<void>((resolve) => this.#waiters.add(resolve));
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

/** An embedded apiserver in this process, a folder, and the server's kubeconfig in the folder. */
export interface CommandScene extends AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly folder: TemporaryFolder;
  readonly kubeconfig: string;
}

/** @param context the name of the context: of a cluster in use, or of one to throw away */
export async function startScene(context = 'kubeloom-embedded'): Promise<CommandScene> {
  const server = await startEmbeddedApiServer({ isolation: 'none' });
  const folder = new TemporaryFolder();
  const yaml = server.kubeConfigYaml.replaceAll('kubeloom-embedded', context);
  return {
    server,
    folder,
    kubeconfig: folder.write('kubeconfig', yaml),
    async [Symbol.asyncDispose]() {
      await server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
