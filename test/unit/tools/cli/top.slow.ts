/** `kubeloom top` as a process: without a terminal, as JSON, attached to a program, and in a terminal. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { StatsSnapshot } from '../../../../src/metrics/snapshot.ts';
import { MetricsReading } from '../../../../src/tools/cli/top/reading.ts';
import { WorkQueue } from '../../../../src/workqueue/index.ts';
import { serveStats } from '../../../../src/metrics/index.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { CommandRun, MAIN, runCommand, startScene } from './command.ts';

const PODS = 7;

/** Arguments that show the pods of a new server. */
async function withServer(use: (args: readonly string[]) => Promise<void>): Promise<void> {
  await using scene = await startScene();
  await scene.server.populate({ count: PODS });
  await use(['top', 'pods', '-A', '--threads', '1', '--kubeconfig', scene.kubeconfig]);
}

describe('kubeloom top', () => {
  it('prints a line each second without a terminal, and ends cleanly on SIGINT', () =>
    withServer(async (args) => {
      await using run = new CommandRun(args);
      await run.until(
        'stdout',
        /^objects 7, events\/s \S+, lag \S+, p50 \S+, p99 \S+, backlog 0, relists \S+, errors 0$/m,
      );
      run.kill('SIGINT');
      assert.equal(await run.exitCode, 0);
      assert.equal(run.stderr, '');
    }));

  it('prints snapshots with --json, the figures of the threads included', () =>
    withServer(async (args) => {
      await using run = new CommandRun([...args, '--json']);
      await run.until('stdout', /\n.*"value":7[,}].*\n/);
      run.kill('SIGINT');
      assert.equal(await run.exitCode, 0);
      const { families } = JSON.parse(run.stdoutLines.at(-1) ?? '') as StatsSnapshot;
      const reading = new MetricsReading(families);
      assert.equal(reading.sum('kubeloom_informer_objects'), PODS);
      for (const role of ['main', 'reflector', 'shard 0'])
        assert.ok((reading.sum('kubeloom_thread_cpu_seconds_total', { role }) ?? 0) > 0, role);
    }));

  it('attaches to a program that serves its figures, and says what to do when there is none', async () => {
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('stats.sock');
    const queue = new WorkQueue<string>({ name: 'keys' });
    queue.add('a');
    const server = await serveStats({ socketPath });
    await using run = new CommandRun(['top', '--socket', socketPath, '--json']);
    await run.until('stdout', /"workqueue_depth"/);
    await server.close();
    queue.shutDown();
    assert.equal(await run.exitCode, 1);
    assert.match(
      run.stderr,
      /no figures from .*stats\.sock: .*serveStats\(.*\(ERR_KUBELOOM_UNREACHABLE\)\n$/,
    );
  });

  it('refuses both resources and a program, and neither', async () => {
    for (const args of [[], ['pods', '--port', '1'], ['--port', '1', '--socket', 'a']]) {
      const { exitCode, stderr } = await runCommand(['top', ...args]);
      assert.equal(exitCode, 1);
      assert.match(stderr, /ERR_KUBELOOM_USAGE/);
    }
  });

  it('draws frames of the size of the terminal, takes keys, and gives the terminal back on q', () =>
    withServer(async (args) => {
      await using terminal = new Terminal(args, 100, 20);
      await terminal.until(/INFORMER +PHASE[^]*pods \(all namespaces\) +watching +7 [^]*q quit/);
      assert.ok(terminal.output.includes(ENTER_SCREEN));
      terminal.type('e');
      await terminal.until(/\[e events\/s\]/);
      terminal.type('\u001b[B');
      assert.equal(widthOf(terminal.output), 100);
      terminal.resize(40, 12);
      // stty sets rows and columns one after the other, so there may be a frame of 100 columns and 12 rows first.
      await terminal.untilSo((output) => {
        const frame = output.slice(output.lastIndexOf(CLEAR_SCREEN));
        return widthOf(frame) <= 40 && /INFORMER[^]*pods[^]*q quit/.test(frame);
      });
      terminal.type('q');
      await terminal.until(/exit 0, .icanon/);
      assert.match(terminal.output, /exit 0, [^-]icanon/, 'lines are read as before');
      assert.ok(terminal.output.lastIndexOf(LEAVE_SCREEN) > terminal.output.lastIndexOf('q quit'));
    }));

  it('waits on a terminal for a program that is gone, and ends on Ctrl-C', async () => {
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('stats.sock');
    const server = await serveStats({ socketPath });
    await using terminal = new Terminal(['top', '--socket', socketPath], 120, 20);
    await terminal.until(/UTC/);
    await server.close();
    await terminal.until(/no figures from .*stats\.sock: there is no such socket/);
    const before = terminal.output.length;
    await using again = await serveStats({ socketPath });
    assert.equal(again.address, socketPath);
    await terminal.until(/UTC/, before);
    terminal.type('\u0003');
    await terminal.until(/exit 0, /);
  });
});

function widthOf(output: string): number {
  return Math.max(...output.split('\n').map((line) => stripVTControlCharacters(line).trimEnd().length));
}

const ENTER_SCREEN = '\u001b[?1049h';
const LEAVE_SCREEN = '\u001b[?1049l';
const CLEAR_SCREEN = '\u001b[2J';

/** The command in a terminal of util-linux' `script`, which at its end prints the exit code and the terminal's mode. */
class Terminal implements AsyncDisposable {
  output = '';
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #closed: Promise<unknown>;

  constructor(args: readonly string[], columns: number, rows: number) {
    const size = `tty=$(tty); echo "on $tty."; stty rows ${rows} cols ${columns}`;
    const command = `'${process.execPath}' '${MAIN}' ${args.join(' ')}`;
    const end = `echo "exit $?, $(stty -a | grep -o '.icanon')"`;
    this.#child = spawn('script', ['-qec', `${size}; ${command}; ${end}`, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#closed = once(this.#child, 'close');
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.output += text));
  }

  /** Resolves when the output from `start` on matches. */
  until(pattern: RegExp, start: number = 0): Promise<void> {
    return this.untilSo((output) => pattern.test(output.slice(start)));
  }

  async untilSo(isSo: (output: string) => boolean): Promise<void> {
    while (!isSo(this.output)) await once(this.#child.stdout, 'data');
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  resize(columns: number, rows: number): void {
    const [, tty = ''] = /on (\S+)\./.exec(this.output) ?? [];
    execFileSync('stty', ['-F', tty, 'rows', String(rows), 'cols', String(columns)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }
}
