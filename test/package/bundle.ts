/**
 * Writes `dist/lib`: the entries of the package as a few files, which Node loads in half of the processor time and with 8 MB
 * less than the two hundred of `dist/src` (docs/decisions/0022-start.md). Bundlers take those by the condition `module`,
 * because they leave out what a program does not use. A step of `npm run compile`.
 */
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LIB = join(ROOT, 'dist/lib');

interface Manifest {
  readonly exports: Readonly<
    Record<string, string | { readonly module?: string; readonly default?: string }>
  >;
}

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
};

/** Returns the input of each file that an export names for Node, by its path in `dist/lib` without extension. */
function entries(): Readonly<Record<string, string>> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const found = Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry.module !== undefined && entry.default !== undefined
      ? [[entry.default.replace(/^\.\/dist\/lib\/(.+)\.js$/, '$1'), entry.module]]
      : [],
  );
  return Object.fromEntries(found) as Readonly<Record<string, string>>;
}

rmSync(LIB, { recursive: true, force: true });
await Promise.all([
  build({
    ...COMMON,
    entryPoints: {
      ...entries(),
      // The embedded apiserver starts its process beside the file that contains `start.ts`.
      'server-entry': 'dist/src/tools/apiserver/run/server-entry.js',
      // A module that reconciles imports `kubeloom/thread` in the same thread: what both have is loaded once.
      'src/thread/pool/reconcile-task': 'dist/src/thread/pool/reconcile-task.js',
    },
    outdir: LIB,
    format: 'esm',
    splitting: true,
  }),
  // Each thread of the pipeline has one file. The CommonJS entries import theirs.
  build({
    ...COMMON,
    entryPoints: {
      'workers/reflector': 'dist/workers/reflector.js',
      'src/indexer/shard-loop': 'dist/src/indexer/shard-loop.js',
    },
    outdir: LIB,
    format: 'esm',
  }),
]);
for (const entry of ['indexer.cjs', 'reconciler.cjs']) {
  copyFileSync(join(ROOT, 'dist/workers', entry), join(LIB, 'workers', entry));
}
