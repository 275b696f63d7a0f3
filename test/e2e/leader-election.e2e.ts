/**
 * Three candidates on a real kube-apiserver, whose leaders are stopped, killed and frozen: never do two of them act at the same
 * time, and always another one takes over.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TemporaryFolder } from '../kit/temporary-folder.ts';
import { clusterOfTests } from './control-plane.ts';

const CHILD = fileURLToPath(new URL('leader-election-child.js', import.meta.url));
const CANDIDATES = 3;
const LOST = 3;
/** Longer than the lease. */
const FROZEN_MS = 4500;
const ROUNDS = ['SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSTOP', 'SIGKILL'] as const;

interface Act {
  readonly atMs: number;
  readonly identity: string;
}

/** The candidates: one that ends is replaced by another with a new name. */
class Candidates implements AsyncDisposable {
  readonly exits: string[] = [];
  readonly #folder = new TemporaryFolder();
  readonly #log: string = join(this.#folder.path, 'acts');
  readonly #kubeconfig: string;
  readonly #running: Map<string, ChildProcess> = new Map();
  #started = 0;
  #isOver = false;

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
    writeFileSync(this.#log, '');
    for (let candidate = 0; candidate < CANDIDATES; candidate++) this.#start();
  }

  /** The acts so far, in the order of their times. */
  acts(): Act[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1);
    return lines
      .map((line) => line.split(' '))
      .map(([at = '', identity = '']) => ({ atMs: Number(BigInt(at) / 1000n) / 1000, identity }))
      .toSorted((a, b) => a.atMs - b.atMs);
  }

  /** Waits for a leader that is not `before`. */
  async leaderAfter(before: string): Promise<string> {
    for (;;) {
      const { identity = before } = this.acts().at(-1) ?? {};
      if (identity !== before && this.#running.has(identity)) return identity;
      await setTimeout(50);
    }
  }

  async send(identity: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(identity);
    child?.kill(signal);
    if (signal === 'SIGSTOP' || !child) return;
    await once(child, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    for (const child of this.#running.values()) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await this.#folder[Symbol.asyncDispose]();
  }

  #start(): void {
    const identity = `candidate-${++this.#started}`;
    const child = spawn(process.execPath, [CHILD, this.#kubeconfig, identity, this.#log], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    this.#running.set(identity, child);
    child.once('exit', (code, signal) => {
      this.#running.delete(identity);
      this.exits.push(`${identity} ${signal ?? code}`);
      if (!this.#isOver) this.#start();
    });
  }
}

const cluster = clusterOfTests();

test('one process leads at a time while leaders are stopped, killed and frozen, and another takes over', async (context) => {
  await using candidates = new Candidates(cluster().controlPlane.kubeconfigPath);
  let leader = await candidates.leaderAfter('');
  for (const signal of ROUNDS) {
    await candidates.send(leader, signal);
    const sentMs = performance.now();
    if (signal === 'SIGSTOP') await setTimeout(FROZEN_MS);
    const next = await candidates.leaderAfter(leader);
    context.diagnostic(
      `${signal} to ${leader}: ${next} leads within ${Math.round(performance.now() - sentMs)} ms`,
    );
    if (signal === 'SIGSTOP') {
      await candidates.send(leader, 'SIGCONT');
      assert.ok(candidates.exits.includes(`${leader} ${LOST}`), 'a frozen leader finds that it has lost');
    }
    leader = next;
  }
  const acts = candidates.acts();
  const leaders = acts
    .map(({ identity }) => identity)
    .filter((identity, at, all) => identity !== all[at - 1]);
  assert.deepEqual(leaders, [...new Set(leaders)], 'no leader acts again after another one');
  assert.ok(leaders.length > ROUNDS.length);
});
