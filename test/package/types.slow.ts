/**
 * The types as compilers of users see them: publint and arethetypeswrong examine the tarball, and TypeScript 5.0 to 7
 * compile a program against it, without skipLibCheck. Errors in other packages' declarations do not count.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { programText } from '../unit/tools/cli/types/examples.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { FIXTURES, install, pack, run } from './installation.ts';
import { LINTERS, publint, typesWrong } from './linters.ts';

/** Versions of TypeScript, by the names of their folders. */
const COMPILERS: Readonly<Record<string, string>> = {
  '5.0': '~5.0',
  '5.9': '~5.9',
  '6': '6',
  '7': '7',
};
const CONSUMERS = ['consumer.mts', 'consumer.cts', 'consumer.ts'] as const;
/** The output of `kubeloom types`, and a program with it. */
const CUSTOM_RESOURCES = 'custom-resources.mts';
/** A program that imports every entry of the package. */
const ENTRIES = 'entries.mts';

interface Project {
  readonly typescript: string;
  readonly options: string;
  readonly programs: readonly ((typeof CONSUMERS)[number] | typeof CUSTOM_RESOURCES | typeof ENTRIES)[];
}

const NODENEXT = '--module nodenext';
const BUNDLER = '--module esnext --moduleResolution bundler';
const NODE10 = '--module commonjs --moduleResolution node --esModuleInterop';

/** The projects that docs/bundling.md promises. A .cts file is CommonJS; so is the .ts file with NODE10. */
const PROJECTS: readonly Project[] = [
  { typescript: '5.0', options: NODENEXT, programs: ['consumer.mts', CUSTOM_RESOURCES, ENTRIES] },
  { typescript: '5.0', options: BUNDLER, programs: ['consumer.ts'] },
  { typescript: '5.0', options: NODE10, programs: ['consumer.ts'] },
  { typescript: '5.9', options: NODENEXT, programs: ['consumer.mts', 'consumer.cts', CUSTOM_RESOURCES] },
  { typescript: '6', options: NODENEXT, programs: ['consumer.mts', 'consumer.cts', CUSTOM_RESOURCES] },
  { typescript: '6', options: `${NODE10} --ignoreDeprecations 6.0`, programs: ['consumer.ts'] },
  {
    typescript: '7',
    options: NODENEXT,
    programs: ['consumer.mts', 'consumer.cts', CUSTOM_RESOURCES, ENTRIES],
  },
  { typescript: '7', options: BUNDLER, programs: ['consumer.ts'] },
];

/** Returns the entries with declarations, without their dots. */
function typedEntries(): string[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
  };
  const isTyped = (name: string): boolean => typeof exports[name] === 'object' && 'types' in exports[name];
  return Object.keys(exports)
    .filter(isTyped)
    .map((name) => name.slice(1));
}

describe('the types of the installed package', () => {
  let folder = '';
  let tarball = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubeloom-types-'));
    tarball = await pack(folder);
    const compilers = Object.entries(COMPILERS).map(([name, range]) => `ts${name}@npm:typescript@${range}`);
    const peers = ['@kubernetes/client-node@1', 'prom-client@15', '@opentelemetry/api@1'];
    const types = ['@types/node@20', '@types/ws@8'];
    await install(folder, [tarball, ...compilers, ...peers, ...types, ...LINTERS]);
    for (const name of CONSUMERS) await copyFile(join(FIXTURES, 'consumer.ts'), join(folder, name));
    const definitions = join(ROOT, 'test/unit/tools/cli/types/definitions');
    const { stdout } = await run('npx', ['kubeloom', 'types', definitions], { cwd: folder });
    await writeFile(join(folder, 'generated.mts'), stdout);
    await writeFile(join(folder, CUSTOM_RESOURCES), programText('./generated.mjs'));
    const imports = typedEntries().map((entry, index) => `export * as a${index} from 'kubeloom${entry}';\n`);
    assert.equal(imports.length, 12);
    await writeFile(join(folder, ENTRIES), imports.join(''));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Returns the errors in the programs and in kubeloom's declarations. */
  async function errorsOf({ typescript, options, programs }: Project): Promise<string[]> {
    const tsc = join(folder, `node_modules/ts${typescript}/bin/tsc`);
    const common = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--pretty', 'false'];
    const args = [tsc, ...common, ...options.split(' '), ...programs];
    const output = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout) => {
        // The compiler exits with 1 or 2 when it has found errors.
        if (error && ![1, 2].includes(Number(error.code))) reject(error);
        else resolve(stdout);
      });
    });
    const isOther = (line: string): boolean => /^(?: |node_modules\/(?!kubeloom\/)|$)/.test(line);
    return output.split('\n').filter((line) => !isOther(line));
  }

  for (const project of PROJECTS) {
    const { typescript, options, programs } = project;
    test(`compile with TypeScript ${typescript} ${options}, ${programs.join(' and ')}`, async () => {
      assert.deepEqual(await errorsOf(project), []);
    });
  }

  // package.slow.ts compiles the same program with the newest compiler.
  test('are never any without client-node, and a misspelt field is an error, with TypeScript 5.0', async () => {
    const bare = await mkdtemp(join(tmpdir(), 'kubeloom-bare-types-'));
    try {
      await install(bare, [tarball, 'typescript@~5.0', '@types/node@20']);
      await copyFile(join(FIXTURES, 'without-client-node.ts'), join(bare, 'program.mts'));
      const options = ['--declaration', '--outDir', 'out', '--strict', '--target', 'es2022'];
      const args = ['tsc', ...options, '--types', 'node', ...NODENEXT.split(' '), 'program.mts'];
      const { stdout } = await run('npx', args, { cwd: bare });
      assert.equal(stdout, '');
    } finally {
      await rm(bare, { recursive: true, force: true });
    }
  });

  test('are refused in a CommonJS file under node16, which documents say', async () => {
    const project = { typescript: '5.9', options: '--module node16', programs: ['consumer.cts'] } as const;
    const [first = ''] = await errorsOf(project);
    assert.match(first, /TS1479: .* is a CommonJS module .* the referenced file is an ECMAScript module/);
  });

  test('have no fault that publint knows', async () => {
    assert.match(await publint(folder, tarball), /All good!/);
  });

  test('have no fault that arethetypeswrong knows, except that CommonJS loads an ES module', async () => {
    assert.match(await typesWrong(folder, tarball), /kubeloom\/testing/);
  });
});
