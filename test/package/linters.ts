/** Programs that judge a package: publint, and arethetypeswrong. */
import { run } from './installation.ts';

/** Packages with their ranges, for npm. */
export const LINTERS = ['publint@0.3', '@arethetypeswrong/cli@0.18'] as const;

/** Programs do not import the types of these: threads' entries are for bundlers, the schemas are JSON. */
const UNTYPED = [
  'workers/indexer',
  'workers/reconciler',
  'workers/*',
  'workload.schema.json',
  'loadtest-result.schema.json',
];

/** @param folder where the linters are installed @returns what publint says; @throws when it finds a fault */
export function publint(folder: string, tarball: string): Promise<string> {
  return judged(folder, ['publint', 'run', tarball, '--strict']);
}

/**
 * Returns the table of arethetypeswrong. That CommonJS loads an ES module is no fault: documents say it.
 *
 * @param folder where the linters are installed
 * @throws when it finds a fault
 */
export function typesWrong(folder: string, tarball: string): Promise<string> {
  const rules = ['--ignore-rules', 'cjs-resolves-to-esm'];
  const args = ['attw', tarball, '--format', 'ascii', '--no-color', ...rules];
  return judged(folder, [...args, '--exclude-entrypoints', ...UNTYPED]);
}

async function judged(folder: string, args: readonly string[]): Promise<string> {
  try {
    return (await run('npx', [...args], { cwd: folder })).stdout;
  } catch (error) {
    throw new Error((error as { readonly stdout?: string }).stdout ?? '', { cause: error });
  }
}
