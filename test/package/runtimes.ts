/** The runtimes that the package is for, from their npm packages: each is the program itself, for Linux. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, install } from './installation.ts';

export interface Runtime {
  /** `Node 22` */
  readonly name: string;
  /** The npm package with a range of versions. */
  readonly spec: string;
  /** The program below `node_modules`. */
  readonly program: string;
  /** Arguments of the program before the path of a file to run, and of a file with tests. */
  readonly run: readonly string[];
  readonly test: readonly string[];
}

const isArm = process.arch === 'arm64';
const nodePackage = `node-linux-${process.arch}`;
const bunPackage = `@oven/bun-linux-${isArm ? 'aarch64' : 'x64'}`;
const denoPackage = `@deno/linux-${isArm ? 'arm64' : 'x64'}-glibc`;
/** Deno would check types, for which it needs `@types/node`. */
const DENO_FLAGS = ['-A', '--no-check'];

/** Every line of Node.js that package.json admits and that is maintained. */
export const NODES: readonly Runtime[] = [20, 22, 24, 26].map((major) => ({
  name: `Node ${major}`,
  spec: `${nodePackage}@^${major}`,
  program: `${nodePackage}/bin/node`,
  run: [],
  test: ['--test'],
}));

export const OTHERS: readonly Runtime[] = [
  {
    name: 'Bun',
    spec: `${bunPackage}@1`,
    program: `${bunPackage}/bin/bun`,
    run: [],
    // Bun ends a test after five seconds, Node and Deno never.
    test: ['test', '--timeout', '180000'],
  },
  {
    name: 'Deno',
    spec: `${denoPackage}@2`,
    program: `${denoPackage}/deno`,
    run: ['run', ...DENO_FLAGS],
    test: ['test', ...DENO_FLAGS],
  },
];

/** Installs a runtime into `.cache`, once; no script of an installation fetches anything. @returns the program's path */
export async function programOf({ name, spec, program }: Runtime): Promise<string> {
  const folder = join(ROOT, '.cache/runtimes', name.toLowerCase().replace(' ', '-'));
  const path = join(folder, 'node_modules', program);
  if (!existsSync(path)) {
    await mkdir(folder, { recursive: true });
    await install(folder, ['--ignore-scripts', spec]);
  }
  return path;
}
