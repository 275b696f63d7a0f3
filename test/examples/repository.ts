/** The places of the examples: the programs are compiled, their other files are in the repository only. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadYaml } from '@kubernetes/client-node';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { fromModel } from '../../src/client-node/index.ts';
import { Program } from './program.ts';

const EXPECTED = '.expected.txt';

/** docs/examples, from whatever folder this was compiled into. */
export const FOLDER: string = join(rootAbove(import.meta.dirname), 'docs/examples');

/** Names of the programs, sorted: those with an expected output. */
export async function exampleNames(): Promise<string[]> {
  const names = await readdir(FOLDER);
  return names.flatMap((name) => (name.endsWith(EXPECTED) ? [basename(name, EXPECTED)] : [])).toSorted();
}

export function expectedOutput(name: string): Promise<string> {
  return readFile(join(FOLDER, `${name}${EXPECTED}`), 'utf8');
}

/** Reads a definition as `kubectl apply -f` would. @param name `foo`, `bucket` or `backup` */
export async function definition(name: string): Promise<V1CustomResourceDefinition> {
  return loadYaml<V1CustomResourceDefinition>(await readFile(join(FOLDER, `${name}-crd.yaml`), 'utf8'));
}

/** Starts an embedded apiserver that serves the custom resources of the examples. */
export async function startServer(): Promise<EmbeddedApiServer> {
  const server = await startEmbeddedApiServer();
  const resource = 'customresourcedefinitions.apiextensions.k8s.io';
  for (const name of ['foo', 'bucket', 'backup']) {
    await server.apply([{ type: 'create', resource, object: fromModel(await definition(name)) }]);
  }
  return server;
}

/** Names of the clusters that a program watches. */
export function clustersOf(name: string): readonly string[] {
  return name === 'multi-cluster' ? ['east', 'west'] : ['east'];
}

/** Starts an example. @param yamls a kubeconfig for each of its clusters; the last one counts for the others */
export async function startProgram(
  name: string,
  folder: string,
  ...yamls: readonly [string, ...string[]]
): Promise<Program> {
  const own = await mkdtemp(join(folder, `${name}-`));
  const clusters = clustersOf(name);
  const paths = clusters.map((cluster) => join(own, `${cluster}.kubeconfig`));
  for (const [index, path] of paths.entries()) {
    await writeFile(path, yamls[index] ?? yamls.at(-1) ?? '', { mode: 0o600 });
  }
  const [first = '', ...others] = paths;
  return new Program(name, first, ...others);
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'docs/examples/README.md'))) return folder;
  if (folder === dirname(folder)) throw new Error(`no docs/examples above ${import.meta.dirname}`);
  return rootAbove(dirname(folder));
}
