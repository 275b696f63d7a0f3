/** The places of the examples: the programs are compiled, their other files are in the repository only. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadYaml } from '@kubernetes/client-node';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../src/apiserver/testing/index.ts';

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

/** As `kubectl apply -f` would read it. */
export async function fooDefinition(): Promise<V1CustomResourceDefinition> {
  return loadYaml<V1CustomResourceDefinition>(await readFile(join(FOLDER, 'foo-crd.yaml'), 'utf8'));
}

/** Starts an embedded apiserver that serves Foos. */
export async function startServer(): Promise<EmbeddedApiServer> {
  const server = await startEmbeddedApiServer();
  const resource = 'customresourcedefinitions.apiextensions.k8s.io';
  await server.apply([{ type: 'create', resource, object: await fooDefinition() }]);
  return server;
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'docs/examples/README.md'))) return folder;
  if (folder === dirname(folder)) throw new Error(`no docs/examples above ${import.meta.dirname}`);
  return rootAbove(dirname(folder));
}
