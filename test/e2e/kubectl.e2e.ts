/**
 * kubectl at the embedded apiserver and at a real kube-apiserver: the commands of `kubectl/commands.txt`, whose outputs must be equal
 * except for the known differences in `kubectl/differences.json`. Takes `kubectl` from the path or from $KUBECTL.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { startControlPlane } from './control-plane.ts';
import { readCommands, runBattery } from './kubectl/battery.ts';

const DIFFERENCES = new URL('../../../test/e2e/kubectl/differences.json', import.meta.url);

test('commands of kubectl print the same and end with the same code as at a real server, except for the known differences', async (t) => {
  await using controlPlane = await startControlPlane();
  const server = await startEmbeddedApiServer();
  t.after(() => server.close());
  const commands = await readCommands();
  assert.ok(commands.length >= 150, `${commands.length} commands`);
  const [ours, theirs] = await Promise.all([
    runBattery(server.kubeConfigYaml, commands),
    runBattery(await readFile(controlPlane.kubeconfigPath, 'utf8'), commands),
  ]);
  const known = new Map(
    Object.entries(JSON.parse(readFileSync(DIFFERENCES, 'utf8')) as Record<string, string>),
  );
  const differing = ours.filter(({ text }, index) => text !== theirs[index]?.text);
  for (const [index, { command, text }] of ours.entries())
    if (!known.has(command)) assert.equal(text, theirs[index]?.text, `kubectl ${command}`);
  const commandsOf = differing.map(({ command }) => command);
  assert.deepEqual(commandsOf, [...known.keys()], 'a known difference is gone: delete the row');
});
