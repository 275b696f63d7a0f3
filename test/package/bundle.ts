/**
 * Writes `dist/lib`, the entries of the library as a few files, which Node loads in half of the processor time and with 8 MB
 * less than the two hundred of `dist/src` (docs/decisions/0022-start.md), and `dist/tools`, the command, the embedded apiserver
 * and the load test with every package that only they need. Bundlers take the library's files by the condition `module`,
 * because they leave out what a program does not use. A step of `npm run prepare`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { licensesOf } from './licenses.ts';
import { LIBRARY, TOOLS, importsOfTools } from './tool-imports.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LIB = join(ROOT, 'dist/lib');
const TOOLS_OUT = join(ROOT, 'dist/tools');

interface Manifest {
  readonly exports: Readonly<
    Record<string, string | { readonly module?: string; readonly default?: string }>
  >;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
};

/** Returns the input of each library file that an export names for Node, by its path in `dist/lib` without extension. */
function entries(): Record<string, string> {
  const found = Object.values(MANIFEST.exports).flatMap((entry) =>
    typeof entry === 'object' &&
    entry.module?.startsWith('./dist/src/') === true &&
    entry.default !== undefined
      ? [[entry.default.replace(/^\.\/dist\/lib\/(.+)\.js$/, '$1'), entry.module]]
      : [],
  );
  return Object.fromEntries(found) as Record<string, string>;
}

const ENTRIES = entries();
const ENTRY_OF = new Map(Object.entries(ENTRIES).map(([name, input]) => [input.replace(/^\.\//, ''), name]));
/** The file of `dist/lib` with what only the tools import; no entry of the package leads to it. */
const FOR_TOOLS = 'for-tools';

/** Leads imports of the library to its files in `dist/lib`, so that a process loads each class of the library once. */
const libraryOutside: Plugin = {
  name: 'library-outside',
  setup(bundler) {
    bundler.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const module = join(resolveDir, path).slice(ROOT.length);
      if (!module.startsWith(LIBRARY) || module.startsWith(TOOLS)) return undefined;
      return { path: `../lib/${ENTRY_OF.get(module) ?? FOR_TOOLS}.js`, external: true };
    });
  },
};

/** Returns the source of `FOR_TOOLS`. @throws when two modules export one name */
function sourceForTools(): string {
  const owners = new Map<string, string>();
  for (const [module, names] of importsOfTools(ROOT)) {
    if (ENTRY_OF.has(module)) continue;
    for (const name of names) {
      const other = owners.get(name);
      if (other !== undefined)
        throw new Error(`the tools import ${name} of ${other} and of ${module}: rename it`);
      owners.set(name, module);
    }
  }
  return [...owners].map(([name, module]) => `export { ${name} } from './${module}';`).join('\n');
}

async function buildLibrary(): Promise<void> {
  const forTools = join(ROOT, `dist/${FOR_TOOLS}.js`);
  writeFileSync(forTools, sourceForTools().replaceAll(`'./dist/`, `'./`));
  await Promise.all([
    build({
      ...COMMON,
      packages: 'external',
      entryPoints: {
        ...ENTRIES,
        // A module that reconciles imports `kubeloom/thread` in the same thread: what both have is loaded once.
        'src/thread/pool/reconcile-task': 'dist/src/thread/pool/reconcile-task.js',
        [FOR_TOOLS]: forTools,
      },
      outdir: LIB,
      format: 'esm',
      splitting: true,
    }),
    // Each thread of the pipeline has one file. The CommonJS entries import theirs.
    build({
      ...COMMON,
      packages: 'external',
      entryPoints: {
        'workers/reflector': 'dist/workers/reflector.js',
        'src/indexer/shard-loop': 'dist/src/indexer/shard-loop.js',
      },
      outdir: LIB,
      format: 'esm',
    }),
  ]);
  rmSync(forTools);
  for (const entry of ['indexer.cjs', 'reconciler.cjs']) {
    copyFileSync(join(ROOT, 'dist/workers', entry), join(LIB, 'workers', entry));
  }
}

async function buildTools(): Promise<Metafile> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: {
      cli: 'dist/src/tools/cli/main.js',
      testing: 'dist/src/tools/apiserver/testing/index.js',
      'server-entry': 'dist/src/tools/apiserver/run/server-entry.js',
      'generator-process': 'dist/src/tools/loadtest/write/generator-process.js',
      'watcher-process': 'dist/src/tools/loadtest/watch/watcher-process.js',
    },
    outdir: TOOLS_OUT,
    format: 'esm',
    splitting: true,
    metafile: true,
    minifyWhitespace: true,
    legalComments: 'none',
    plugins: [libraryOutside],
    external: [...Object.keys(MANIFEST.dependencies), ...Object.keys(MANIFEST.peerDependencies), 'kubeloom'],
    // Packages in CommonJS require what Node has.
    banner: {
      js: "import{createRequire as kubeloomRequire}from'node:module';const require=kubeloomRequire(import.meta.url);",
    },
  });
  return metafile;
}

/** The script and the styles of the load test's pages, which a report contains. */
function writePageParts(): void {
  const folder = join(TOOLS_OUT, 'page');
  mkdirSync(folder, { recursive: true });
  const uPlot = dirname(createRequire(import.meta.url).resolve('uplot'));
  for (const name of ['uPlot.iife.min.js', 'uPlot.min.css'])
    copyFileSync(join(uPlot, name), join(folder, name));
  const report = join(ROOT, 'dist/src/tools/loadtest/report');
  const script = ['value-text.js', 'browser/draw.js'].map((name) => readFileSync(join(report, name), 'utf8'));
  writeFileSync(join(folder, 'draw.js'), script.join('\n'));
}

const LICENSES = join(ROOT, 'dist/THIRD-PARTY-LICENSES');
/** Files that change with everything that is bundled: compiling writes the first, installing the second. */
const INPUTS = ['.cache/tsbuildinfo', 'node_modules/.package-lock.json', 'package.json'];

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Whether the last step of an earlier run came after the last change: then programs that are running keep their files. */
function isUpToDate(): boolean {
  return INPUTS.every((input) => changedAt(join(ROOT, input)) < changedAt(LICENSES));
}

async function bundle(): Promise<void> {
  for (const folder of [LIB, TOOLS_OUT]) rmSync(folder, { recursive: true, force: true });
  rmSync(LICENSES, { force: true });
  const [, metafile] = await Promise.all([buildLibrary(), buildTools()]);
  writePageParts();
  writeFileSync(
    LICENSES,
    licensesOf(ROOT, [
      ...Object.keys(metafile.inputs),
      'node_modules/uplot/package.json',
      // The declarations of its models.
      'node_modules/@kubernetes/client-node/package.json',
    ]),
  );
}

if (!isUpToDate()) await bundle();
