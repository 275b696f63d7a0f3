/** `kubeloom top` as a process: without a terminal, as JSON, attached to a program, and in a terminal. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { StatsSnapshot } from '../../../src/base/metrics/snapshot.ts';
import { MetricsReading } from '../../../src/base/metrics/reading.ts';
import { WorkQueue, serveStats } from '../../../src/index.ts';
import { CommandRun, TemporaryFolder, runCommand } from './command.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const PODS = 7;

/** Arguments that show the pods of a new server. */
async function withServer(use: (args: readonly string[]) => Promise<void>): Promise<void> {
  await using server = await startEmbeddedApiServer();
  await using folder = await TemporaryFolder.create();
  await server.populate({ count: PODS });
  await use([
    'top',
    'pods',
    '--threads',
    '1',
    '--kubeconfig',
    await folder.write('kubeconfig', server.kubeConfigYaml),
  ]);
}

describe('kubeloom top', { timeout: 60_000 }, () => {
  it('prints a line each second without a terminal, and ends cleanly on SIGINT', () =>
    withServer(async (args) => {
      await using run = new CommandRun(args);
      await run.until('stdout', /^7 objects, \d+ events\/s, backlog 0, lag .*$/m);
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
    await using folder = await TemporaryFolder.create();
    const socketPath = folder.file('stats.sock');
    const queue = new WorkQueue<string>({ name: 'keys' });
    queue.add('a');
    const server = await serveStats({ socketPath });
    await using run = new CommandRun(['top', '--socket', socketPath, '--json']);
    await run.until('stdout', /"workqueue_depth"/);
    await server.close();
    queue.shutDown();
    assert.equal(await run.exitCode, 1);
    assert.match(run.stderr, /no figures from .*stats\.sock.*serveStats\(\).*ERR_KUBELOOM_STATS_UNREACHABLE/);
  });

  it('refuses both resources and a program, and neither', async () => {
    for (const args of [[], ['pods', '--port', '1']]) {
      const { exitCode, stderr } = await runCommand(['top', ...args]);
      assert.equal(exitCode, 1);
      assert.match(stderr, /ERR_KUBELOOM_ARGUMENT/);
    }
  });

  it('draws a frame of the size of the terminal, takes keys, and gives the terminal back on q', () =>
    withServer(async (args) => {
      const command = `stty rows 20 cols 100; '${process.execPath}' '${MAIN}' ${args.join(' ')}; echo "exit $?, $(stty -a | grep -o '.icanon')"`;
      const terminal = spawn('script', ['-qec', command, '/dev/null'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let output = '';
      const until = async (pattern: RegExp): Promise<void> => {
        while (!pattern.test(output)) output += String((await once(terminal.stdout, 'data'))[0]);
      };
      await until(/INFORMER +PHASE[^]*pods \(all namespaces\) +watching +7 [^]*q quit/);
      terminal.stdin.write('eq');
      await until(/exit 0, .icanon/);
      assert.match(output, /exit 0, [^-]icanon/, 'lines are read as before');
      assert.ok(output.split('\n').every((line) => stripVTControlCharacters(line).trimEnd().length <= 100));
      await once(terminal, 'close');
    }));
});
