/**
 * One run of a credential plugin: no shell, no input, a time limit, a limit for what it may say, and an end
 * for it and everything that it has started when time is up or nobody waits for it any more.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../clock.ts';
import { onAbort } from '../on-abort.ts';

export interface PluginRun {
  /** An absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  readonly signal: AbortSignal;
}

export type PluginOutcome =
  | { readonly kind: 'done'; readonly output: string }
  /** Of what it wrote to stderr only the length is known: it may be a secret. */
  | { readonly kind: 'exited'; readonly code: number | string; readonly stderrBytes: number }
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'aborted' };

/** With a group of its own, which can be ended as a whole. Windows has none. */
const HAS_GROUPS = process.platform !== 'win32';

const running = new Set<PluginProcess>();
const endAll = (): void => {
  for (const one of running) one.end();
};

/** Never rejects. */
export function runPlugin(run: PluginRun): Promise<PluginOutcome> {
  return new Promise((resolve) => {
    try {
      void new PluginProcess(run, resolve);
    } catch (cause) {
      // Arguments that no process can have. The message would quote them.
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      resolve({ kind: 'not-started', code });
    }
  });
}

class PluginProcess {
  readonly #child: ChildProcess;
  readonly #run: PluginRun;
  readonly #resolve: (outcome: PluginOutcome) => void;
  readonly #cancelTimeout: () => void;
  readonly #unlisten: () => void;
  readonly #output: Buffer[] = [];
  #outputBytes = 0;
  #stderrBytes = 0;

  constructor(run: PluginRun, resolve: (outcome: PluginOutcome) => void) {
    this.#run = run;
    this.#resolve = resolve;
    const { command, args, env, signal } = run;
    this.#child = spawn(command, [...args], {
      env,
      // Whoever reads from it gets an end at once, not a hang.
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
      windowsHide: true,
    });
    this.#cancelTimeout = run.clock.schedule(run.timeoutMs, () => this.#kill({ kind: 'timeout' }));
    if (running.size === 0) process.on('exit', endAll);
    running.add(this);
    this.#unlisten = onAbort(signal, () => this.end());
    this.#listen();
    if (signal.aborted) this.end();
  }

  end(): void {
    this.#kill({ kind: 'aborted' });
  }

  #listen(): void {
    const child = this.#child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#outputBytes += chunk.length;
      if (this.#outputBytes <= this.#run.outputBytesMax) this.#output.push(chunk);
      else this.#kill({ kind: 'too-long' });
    });
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderrBytes += chunk.length));
    child.once('error', (error: NodeJS.ErrnoException) => {
      this.#finish({ kind: 'not-started', code: error.code ?? 'unknown' });
    });
    // All it wrote is here, and nothing that it has started holds its output any more.
    child.once('close', (code, signalName) => {
      if (code === 0) this.#finish({ kind: 'done', output: Buffer.concat(this.#output).toString('utf8') });
      else this.#finish({ kind: 'exited', code: code ?? signalName ?? '?', stderrBytes: this.#stderrBytes });
    });
  }

  #kill(outcome: PluginOutcome): void {
    const { pid } = this.#child;
    try {
      if (HAS_GROUPS && pid !== undefined) process.kill(-pid, 'SIGKILL');
      else this.#child.kill('SIGKILL');
    } catch {
      // It has ended by itself.
    }
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#finish(outcome);
  }

  /** The first outcome counts. */
  #finish(outcome: PluginOutcome): void {
    this.#cancelTimeout();
    this.#unlisten();
    running.delete(this);
    if (running.size === 0) process.removeListener('exit', endAll);
    this.#resolve(outcome);
  }
}
