/**
 * Memory under churn, measured as RSS of a process of its own: the store does not grow whatever a handler or
 * a user does, and a handler that never returns costs the bytes of its pending notifications, no more.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';

const CHILD = fileURLToPath(new URL('./memory-child.js', import.meta.url));
const PODS = 10_000;
const OBJECT_BYTES = 2048;
const RATE = 20_000;
/** Times the cache that changes, in random key order. */
const CHURN = 20;
/** Change of RSS by the allocator and the collector alone; the churn is more than the whole RSS. */
const FLAT = 0.15;
const GIVEN_BACK_WITHIN_MS = 60_000;
const MIB = 2 ** 20;

interface Usage {
  readonly rssBytes: number;
  readonly steadyUpdates: number;
  readonly otherUpdates: number;
  readonly backlog: { readonly notifications: number; readonly bytes: number };
  readonly resourceVersion: string;
  readonly heldAreReadable: boolean;
}

interface ChildOptions {
  readonly scenario: string;
  readonly execArgv?: readonly string[];
  readonly pods?: number;
  readonly objectBytes?: number;
}

class Child implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;

  constructor(kubeconfig: string, { scenario, execArgv = ['--expose-gc'] }: ChildOptions) {
    this.#process = spawn(process.execPath, [...execArgv, CHILD, kubeconfig, scenario], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#process.stderr.pipe(process.stderr);
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async usage(): Promise<Usage> {
    this.#process.stdin.write('usage\n');
    const { value } = await this.#answers.next();
    return JSON.parse(String(value)) as Usage;
  }

  /** Asks until the answer fits. */
  async until(fits: (usage: Usage) => boolean, withinMs: number = Infinity): Promise<Usage> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const usage = await this.usage();
      if (fits(usage)) return usage;
      assert.ok(performance.now() < deadline, `after ${withinMs} ms ${JSON.stringify(usage)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end('end\n');
    this.#process.kill();
    await new Promise((resolve) => this.#process.once('exit', resolve));
  }
}

async function withChild(
  options: ChildOptions,
  body: (child: Child, server: EmbeddedApiServer) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeloom-memory-'));
  await using server = await startEmbeddedApiServer({ isolation: 'process', tls: false });
  const { pods = PODS, objectBytes = OBJECT_BYTES } = options;
  await server.populate({ count: pods, objectBytes });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeConfigYaml);
  await using child = new Child(kubeconfig, options);
  await child.usage();
  await body(child, server);
  await rm(folder, { recursive: true });
}

function churn(server: EmbeddedApiServer, times: number): Promise<{ issued: number; toRevision: number }> {
  return server.load({ rate: RATE, durationMs: ((PODS * times) / RATE) * 1000 });
}

for (const scenario of ['plain', 'held', 'behind'] as const) {
  test(`memory stays flat while 20 times the cache changes in random order (${scenario})`, async (context) => {
    await withChild({ scenario }, async (child, server) => {
      const warmUp = await churn(server, 4);
      const before = await child.until(({ otherUpdates }) => otherUpdates === warmUp.issued);
      const load = await churn(server, CHURN);
      const total = warmUp.issued + load.issued;
      const after = await child.until(({ otherUpdates }) => otherUpdates >= total);
      assert.equal(after.otherUpdates, total);
      assert.equal(after.steadyUpdates, total);
      assert.equal(after.resourceVersion, String(load.toRevision));
      assert.ok(after.heldAreReadable);
      context.diagnostic(`RSS ${mib(before.rssBytes)} before, ${mib(after.rssBytes)} after ${total} events`);
      const growth = after.rssBytes - before.rssBytes;
      assert.ok(growth < FLAT * before.rssBytes, `RSS grew by ${mib(growth)}`);
    });
  });
}

test('C21 a handler that never returns costs its pending bytes, and no other handler is delayed, for 60 s', async (context) => {
  await withChild({ scenario: 'stuck' }, async (child, server) => {
    const before = await child.usage();
    const load = await server.load({ rate: RATE, durationMs: 60_000 });
    const after = await child.until(({ steadyUpdates }) => steadyUpdates >= load.issued);
    assert.equal(after.steadyUpdates, load.issued);
    assert.equal(after.resourceVersion, String(load.toRevision));
    assert.equal(after.backlog.notifications, load.issued - 1);
    const growth = after.rssBytes - before.rssBytes;
    const ratio = growth / after.backlog.bytes;
    context.diagnostic(
      `backlog ${mib(after.backlog.bytes)}, RSS grew by ${mib(growth)} (${ratio.toFixed(2)}x)`,
    );
    assert.ok(ratio > 0.8 && ratio < 1.2, `RSS grew by ${ratio.toFixed(2)} times the backlog's bytes`);
  });
});

test('C197 most of what objects take that do not change goes back to the system, and no more is taken again', async (context) => {
  const pods = 40_000;
  const objectBytes = 5120;
  // Without collections by hand.
  await withChild({ scenario: 'packed', execArgv: [], pods, objectBytes }, async (child, server) => {
    const { rssBytes } = await child.usage();
    const enough = rssBytes - 0.6 * pods * objectBytes;
    const packed = await child.until((usage) => usage.rssBytes < enough, GIVEN_BACK_WITHIN_MS);
    const load = await churn(server, CHURN);
    const after = await child.until(({ otherUpdates }) => otherUpdates === load.issued);
    context.diagnostic(
      `RSS ${mib(rssBytes)}, packed ${mib(packed.rssBytes)}, changed ${mib(after.rssBytes)}`,
    );
    assert.ok(after.rssBytes < (1 + FLAT) * rssBytes, `RSS grew to ${mib(after.rssBytes)}`);
  });
});

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}
