/**
 * README.md as a new user follows it: an empty folder, the package as npm packs it, every file and command as printed. On
 * the Node of this process, and on the newest one.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { ROOT, pack, run, userEnvironment } from './installation.ts';
import { filesOf, save } from './recipes.ts';
import { NODES, programOf } from './runtimes.ts';
import type { Runtime } from './runtimes.ts';

const TIMEOUT_MS = 180_000;
const NEWEST = NODES.at(-1) as Runtime;
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
/** Every block of code: language and text. */
const BLOCKS = Array.from(README.matchAll(/^```(\w*)\n([^]*?)^```$/gm), ([, language = '', text = '']) => ({
  language,
  text,
}));

/** Returns the one shell block that begins like this. */
function commandsOf(beginning: string): readonly string[] {
  const [block, ...more] = BLOCKS.filter(
    ({ language, text }) => language === 'sh' && text.startsWith(beginning),
  );
  assert.ok(block && more.length === 0, `README.md has one block that begins with: ${beginning}`);
  return block.text
    .trim()
    .split('\n')
    .map((line) => line.replace(/ #.*$/, ''));
}

test('README.md has no block that the tests below leave out', () => {
  const kinds = BLOCKS.map(({ language, text }) => {
    const [, name] = /^\/\/ (\S+)\n/.exec(text) ?? [];
    return name ?? (language === 'sh' ? (text.split(/[\n#]/)[0] ?? '').trim() : language);
  });
  assert.deepEqual(kinds, [
    'npx kubeloom demo',
    'npm install kubeloom',
    'informer.mjs',
    'teams.mjs',
    'teams.test.mjs',
    'npm ci && npm start && npm test',
  ]);
});

test('the commands of a checkout in README.md are those of CI', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8')
    .split('\n')
    .map((line) => line.trim());
  for (const command of commandsOf('npm ci').flatMap((line) => line.split('&&'))) {
    assert.ok(
      script.some((line) => line === command.trim() || line.startsWith(`${command.trim()} `)),
      command,
    );
  }
});

let packed = '';

before(async () => {
  packed = await mkdtemp(join(tmpdir(), 'kubeloom-packed-'));
  await pack(packed);
});

after(() => rm(packed, { recursive: true, force: true }));

for (const [node, isNewest] of [
  [`Node ${process.version}`, false],
  ['the newest Node', true],
] as const) {
  describe(`README.md in an empty folder, on ${node}`, { timeout: 2 * TIMEOUT_MS }, () => {
    let folder = '';
    let bin = dirname(process.execPath);
    let server: EmbeddedApiServer | undefined;

    /** Runs a command as the user types it. */
    async function typed(command: string): Promise<string> {
      const { stdout } = await run('sh', ['-c', command], {
        cwd: folder,
        timeout: TIMEOUT_MS,
        env: { ...userEnvironment(bin), KUBECONFIG: join(folder, 'kubeconfig') },
      });
      return stdout;
    }

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kubeloom-readme-'));
      if (isNewest) bin = dirname(await programOf(NEWEST));
      server = await startEmbeddedApiServer();
      for (const [name, app] of Object.entries({
        'web-0': 'web',
        'web-1': 'web',
        'api-0': 'api',
        'db-0': 'db',
      })) {
        const object = { metadata: { name, labels: { app } } };
        await server.apply([{ type: 'create', resource: 'pods', object }]);
      }
      await writeFile(join(folder, 'kubeconfig'), server.kubeConfigYaml);
      const [tarball = ''] = await readdir(packed);
      const [command = ''] = commandsOf('npm install');
      await typed(command.replace(' kubeloom', ` --silent --no-audit --no-fund ${join(packed, tarball)}`));
    });

    after(async () => {
      await server?.close();
      await rm(folder, { recursive: true, force: true });
    });

    test('the Node is the one that is meant', async () => {
      const version = (await typed('node --version')).trim();
      if (isNewest) assert.equal(version.split('.')[0], NEWEST.name.replace('Node ', 'v'));
      else assert.equal(version, process.version);
    });

    test('the informer prints what it receives and finds, and ends', async () => {
      const [program] = BLOCKS.filter(({ language }) => language === 'ts');
      await writeFile(join(folder, 'informer.mjs'), program?.text ?? '');
      const lines = (await typed('node informer.mjs')).trim().split('\n');
      assert.deepEqual(lines.toSorted(), [
        '3 2',
        'added default/api-0 api',
        'added default/db-0 db',
        'added default/web-0 web',
        'added default/web-1 web',
      ]);
    });

    test('the unit test of the controller passes', async () => {
      await save({ files: filesOf(README) }, folder);
      assert.match(await typed('node --test'), /pass 1\b[^]*fail 0\b/);
    });

    test('the demo passes, with fewer pods and less time', async () => {
      const [command = ''] = commandsOf('npx kubeloom demo');
      const output = await typed(`${command} --pods 500 --rate 500 --duration 2`);
      assert.match(output, /^PASS: every change reached both handlers once/m);
    });
  });
}
