/** Members as processes that report their figures, for the conductor of a measurement. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MemberFigures, Tenure } from './sharding-figures.ts';

const PROGRAM = fileURLToPath(new URL('sharded-member.js', import.meta.url));

interface Running {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
}

export class GroupOfMembers implements AsyncDisposable {
  readonly #kubeconfigPath: string;
  readonly #running: Running[] = [];
  /** The last line of every member, of those that have ended as well. */
  readonly #latest = new Map<string, MemberFigures>();
  #started = 0;

  constructor(kubeconfigPath: string) {
    this.#kubeconfigPath = kubeconfigPath;
  }

  /** The last figures of the members that run; a member that has not reported is left out. */
  get figures(): readonly MemberFigures[] {
    return this.#running.flatMap(({ identity }) => this.#latest.get(identity) ?? []);
  }

  get tenures(): readonly Tenure[] {
    return [...this.#latest.values()].flatMap(({ tenures }) => tenures);
  }

  get count(): number {
    return this.#running.length;
  }

  start(): string {
    const identity = `member-${++this.#started}`;
    const child = spawn(process.execPath, [PROGRAM, this.#kubeconfigPath, identity], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#latest.set(identity, JSON.parse(line) as MemberFigures);
    });
    // Its last line arrives before the end of its output.
    this.#running.push({ identity, child, exited: once(child, 'close') });
    return identity;
  }

  /** Ends the member that started last; returns its identity. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<string> {
    const last = this.#running.pop();
    if (!last) throw new RangeError('no member runs');
    last.child.kill(signal);
    await last.exited;
    return last.identity;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    while (this.#running.length > 0) await this.end('SIGKILL');
  }
}
