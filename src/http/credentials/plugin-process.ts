/**
 * A run of a credential plugin: no shell, no input, a time limit and a limit of the output. The plugin and
 * all processes that it started are terminated at the time limit, or when no request waits for it.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/on-abort.ts';

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
  /** Only the length of stderr is kept: the text may be a secret. */
  | { readonly kind: 'exited'; readonly code: number | string; readonly stderrBytes: number }
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'aborted' };

/** The plugin gets a process group, which can be terminated as a whole. Windows lacks process groups. */
const HAS_GROUPS = process.platform !== 'win32';

/** The variable by which the processes of a run are found, wherever they are: they inherit it. */
const RUN_VARIABLE = 'KUBELOOM_PLUGIN_RUN';
/** A process may start a child while the list is read. */
const ROUNDS_MAX = 10;

const running = new Set<PluginProcess>();
const endAll = (): void => {
  for (const one of running) one.end();
};

/** Runs the plugin. Never rejects. */
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
  #unlisten: () => void = () => undefined;
  readonly #output: Buffer[] = [];
  readonly #mark = `${RUN_VARIABLE}=${randomUUID()}`;
  #outputBytes = 0;
  #stderrBytes = 0;

  constructor(run: PluginRun, resolve: (outcome: PluginOutcome) => void) {
    this.#run = run;
    this.#resolve = resolve;
    const { command, args, env, signal } = run;
    this.#child = spawn(command, [...args], {
      env: { ...env, [RUN_VARIABLE]: this.#mark.slice(RUN_VARIABLE.length + 1) },
      // A plugin that reads input gets an end of file at once instead of a hang.
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
      windowsHide: true,
    });
    this.#cancelTimeout = run.clock.schedule(run.timeoutMs, () => this.#kill({ kind: 'timeout' }));
    if (running.size === 0) process.on('exit', endAll);
    running.add(this);
    this.#listen(this.#child);
    this.#unlisten = onAbort(signal, () => this.end());
  }

  end(): void {
    this.#kill({ kind: 'aborted' });
  }

  #listen(child: ChildProcess): void {
    child.stdout?.on('data', (chunk: Buffer) => {
      this.#outputBytes += chunk.length;
      if (this.#outputBytes <= this.#run.outputBytesMax) this.#output.push(chunk);
      else this.#kill({ kind: 'too-long' });
    });
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderrBytes += chunk.length));
    child.once('error', (error: NodeJS.ErrnoException) => {
      this.#finish({ kind: 'not-started', code: error.code ?? 'unknown' });
    });
    // All output is here, and no process that the plugin started holds it open.
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
      // The process already ended.
    }
    if (process.platform === 'linux') killMarked(this.#mark);
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#finish(outcome);
  }

  /** Resolves with the first outcome and ignores later outcomes. */
  #finish(outcome: PluginOutcome): void {
    this.#cancelTimeout();
    this.#unlisten();
    running.delete(this);
    if (running.size === 0) process.removeListener('exit', endAll);
    this.#resolve(outcome);
  }
}

/** Terminates the processes whose environment carries the mark: also those that left the group. */
function killMarked(mark: string): void {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const marked = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && hasMark(name, mark));
    if (marked.length === 0) return;
    for (const pid of marked) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // The process already ended.
      }
    }
  }
}

function hasMark(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
  } catch {
    // A process that ended, or is of another user.
    return false;
  }
}
