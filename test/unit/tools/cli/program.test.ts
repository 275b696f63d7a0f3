/** The commands, their help and its examples. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, it } from 'node:test';
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

describe('the command line', () => {
  it('loads informers, and libraries but commander, with the command that needs them', () => {
    const loaded = [...loadedBy(new URL('../../../../src/tools/cli/main.js', import.meta.url))];
    const packages = loaded.filter((name) => !name.startsWith('file:') && !isBuiltin(name));
    assert.deepEqual(packages, ['commander']);
    assert.deepEqual(
      loaded.filter((name) => name.endsWith('/src/index.js')),
      [],
    );
    assert.ok(loaded.some((name) => name.endsWith('/commands/watch.js')));
  });

  it('has examples for every command', async () => {
    const names = (await program(undefined)).commands.map((command) => command.name());
    assert.deepEqual(names.toSorted(), Object.keys(EXAMPLES).toSorted());
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
