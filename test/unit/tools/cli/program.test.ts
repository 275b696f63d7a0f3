/** The commands, their help and its examples. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, it } from 'node:test';
import type { Command } from 'commander';
import { EXAMPLES } from '../../../../src/tools/cli/examples.ts';
import { program } from '../../../../src/tools/cli/program.ts';

/** The words of a line of a shell, without its quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|\S)+/g)].map(([word]) => word.replaceAll("'", ''));
}

/** Files and packages that a compiled file loads at once, directly or not. */
function loadedBy(file: URL): Set<string> {
  const loaded = new Set([file.href]);
  for (const each of loaded) {
    if (!each.startsWith('file:')) continue;
    for (const [, name = ''] of readFileSync(new URL(each), 'utf8').matchAll(
      /^(?:import|(?:im|ex)port .* from) '(.+)';$/gm,
    )) {
      loaded.add(name.startsWith('.') ? new URL(name, each).href : name);
    }
  }
  return loaded;
}

/** Flags that commands share with kubectl, and with each other. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  apiserver: [],
  demo: ['--json'],
  loadtest: ['--kubeconfig', '--context', '--json'],
  partitions: ['--kubeconfig', '--context', '-n', '--json'],
  top: ['--kubeconfig', '--context', '-n', '-A', '-l', '--field-selector', '--json'],
  types: ['--kubeconfig', '--context'],
  watch: ['--kubeconfig', '--context', '-n', '-A', '-l', '--field-selector', '--json'],
};

const SYNTAX: Readonly<Record<string, string>> = {
  '--kubeconfig': '--kubeconfig <file>',
  '--context': '--context <name>',
  '-n': '-n, --namespace <name>',
  '-A': '-A, --all-namespaces',
  '-l': '-l, --selector <selector>',
  '--threads': '--threads <count>',
};

async function commandOf(name: string): Promise<{ readonly command: Command; readonly help: string }> {
  const command = (await program(name)).commands.find((each) => each.name() === name);
  assert.ok(command);
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return { command, help };
}

describe('the command line', () => {
  it('loads informers, and libraries but commander, with the command that needs them', () => {
    const loaded = [...loadedBy(new URL('../../../../src/tools/cli/main.js', import.meta.url))];
    const packages = loaded.filter((name) => !name.startsWith('file:') && !isBuiltin(name));
    assert.deepEqual(packages, ['commander']);
    const informers = loaded.filter((name) => name.endsWith('/src/index.js'));
    assert.deepEqual(informers, []);
    assert.ok(loaded.some((name) => name.endsWith('/commands/watch.js')));
  });

  it('has examples for every command', async () => {
    const names = (await program(undefined)).commands.map((command) => command.name());
    assert.deepEqual(names.toSorted(), Object.keys(EXAMPLES).toSorted());
  });

  for (const [name, flags] of Object.entries(FLAGS)) {
    it(`has the flags of kubectl where they mean the same: ${name}`, async () => {
      const { command, help } = await commandOf(name);
      const declared = new Map(
        command.options.flatMap((each) => [
          [each.short, each],
          [each.long, each],
        ]),
      );
      for (const flag of flags) assert.ok(declared.has(flag), `${name} ${flag}`);
      for (const [flag, syntax] of Object.entries(SYNTAX)) {
        const option = declared.get(flag);
        if (option) assert.equal(option.flags, syntax, name);
      }
      assert.match(help, /\nExamples:\n {2}kubeloom /);
      assert.match(help, /xit code/);
      assert.match(help, /--verbose/);
      // A terminal of 80 columns is the narrowest one for which help is written.
      const long = EXAMPLES[name]?.filter((line) => line.length > 78);
      assert.deepEqual(long, []);
    });
  }

  it('has the flags of every command in the table above', async () => {
    const names = (await program(undefined)).commands.map((command) => command.name());
    assert.deepEqual(names.filter((name) => name !== 'completion').toSorted(), Object.keys(FLAGS).toSorted());
  });

  for (const line of Object.values(EXAMPLES).flat()) {
    it(`accepts ${line}`, async () => {
      const command = await program(line.split(' ')[1]);
      let called = 0;
      for (const each of command.commands) each.action(() => void called++);
      // The shell takes a redirection away.
      const [name, ...words] = wordsOf(line.replace(/ > .*$/, ''));
      assert.equal(name, 'kubeloom');
      await command.parseAsync(words, { from: 'user' });
      assert.equal(called, 1);
    });
  }
});
