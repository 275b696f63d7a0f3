/** Reads CustomResourceDefinitions from files, folders, the standard input, or a cluster. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeloomError, firstLineOf } from '../../../base/errors.ts';
import { resources } from '../../../kube/built-in.ts';
import { resourcePath } from '../../../kube/resource.ts';
import { ApiClient } from '../../../http/api-client.ts';
import type { Json } from '../../apiserver/store/json.ts';
import { listPage } from '../../loadtest/process/list-page.ts';
import { kubeConfigOf } from '../cluster.ts';
import type { ClusterFlags } from '../cluster-flags.ts';
import { contentsOf } from '../crd-files.ts';
import { definitionsIn } from './definition.ts';
import type { TypedDefinition } from './definition.ts';

const MANIFEST = /\.(?:ya?ml|json)$/;
const NONE = 'it has no CustomResourceDefinition';
/** A page of even the largest definitions stays far below the limit of a body. */
const PAGE_ITEMS = 20;

/** @param paths files, folders, and `-` for the standard input @throws ERR_KUBELOOM_USAGE, naming the file */
export async function readPaths(paths: readonly string[]): Promise<TypedDefinition[]> {
  const found: TypedDefinition[] = [];
  for (const path of paths) {
    const definitions = await readPath(path);
    if (definitions.length === 0) throw refused(path, NONE);
    found.push(...definitions);
  }
  return found;
}

async function readPath(path: string): Promise<TypedDefinition[]> {
  if (path === '-') return definitionsOf(await readStdin(), 'standard input');
  const found = await stat(path).catch((cause: unknown) => {
    throw refused(path, firstLineOf(cause), cause);
  });
  if (!found.isDirectory()) return definitionsOf(await readText(path), path);
  const names = await readdir(path, { recursive: true });
  const definitions: TypedDefinition[] = [];
  for (const name of names.filter((each) => MANIFEST.test(each)).toSorted()) {
    const file = join(path, name);
    definitions.push(...definitionsOf(await readText(file), file));
  }
  return definitions;
}

async function readText(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((cause: unknown) => {
    throw refused(file, firstLineOf(cause), cause);
  });
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString();
}

function definitionsOf(text: string, file: string): TypedDefinition[] {
  return contentsOf(text, file, refused).flatMap(({ place, content }) =>
    definitionsIn(content as Json, place),
  );
}

/** @param names of the definitions; empty for all of the cluster */
export async function readCluster(
  names: readonly string[],
  flags: ClusterFlags,
  signal: AbortSignal,
): Promise<TypedDefinition[]> {
  const client = new ApiClient(kubeConfigOf(flags));
  const path = resourcePath(resources.apiextensions.v1.customResourceDefinitions);
  const found: TypedDefinition[] = [];
  for (const name of names) {
    const object = await client.getJson(`${path}/${encodeURIComponent(name)}`, signal);
    found.push(...definitionsIn(object as Json, `the cluster's ${name}`));
  }
  if (names.length > 0) return found;
  let next: string | undefined = '';
  while (next !== undefined) {
    const query = new URLSearchParams({ limit: String(PAGE_ITEMS), ...(next ? { continue: next } : {}) });
    const page = await listPage(client, `${path}?${query.toString()}`, signal);
    const list = { kind: 'CustomResourceDefinitionList', items: page.items as unknown as Json[] };
    found.push(...definitionsIn(list, 'the cluster'));
    next = page.next || undefined;
  }
  if (found.length === 0) throw refused('the cluster', NONE);
  return found;
}

function refused(place: string, reason: string, cause?: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', `${place}: ${reason}`, cause === undefined ? {} : { cause });
}
