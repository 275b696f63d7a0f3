/**
 * Asks a server about the manifests: each is created in a dry run, whole and with every place left out or changed; and the stored
 * object is updated in dry runs with other values.
 */
import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import type { DiscoveredResource, ShapeNode } from '../../../src/tools/apiserver/shapes/shapes.ts';
import { text } from '../../../src/tools/apiserver/store/causes.ts';
import { isJsonObject } from '../../../src/tools/apiserver/store/json.ts';
import type { JsonObject } from '../../../src/tools/apiserver/store/json.ts';
import type { Client } from '../../semantics/client.ts';
import { learnFrozen, learnRules } from './learn-rules.ts';
import type { Answer, Cause, Updates } from './learn-rules.ts';
import { othersFor, placesIn, valuesFor, withValue } from './places.ts';
import type { Place, Shapes } from './places.ts';
import type { ShapeTable } from './shape-table.ts';

/** A manifest with the resource and the shape of the kind. */
export interface Manifest {
  readonly object: JsonObject;
  readonly resource: DiscoveredResource;
  readonly root: ShapeNode;
  /** Path of the collection in the namespace `default`. */
  readonly path: string;
}

/** Returns the manifests beside this file. */
export function manifestsOf({ resources }: Pick<ShapeTable, 'resources'>): Manifest[] {
  const path = new URL('../../../../test/e2e/shapes/manifests.yaml', import.meta.url);
  return loadAll(readFileSync(path, 'utf8')).map((document) => {
    const object = document as JsonObject;
    const [apiVersion, kind] = [text(object['apiVersion']), text(object['kind'])];
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const resource = resources.find(
      (each) => each.group === group && each.version === version && each.kind === kind,
    );
    if (resource === undefined) throw new Error(`no resource has the kind ${kind}`);
    const scope = resource.namespaced ? 'namespaces/default/' : '';
    const name = `${group === '' ? 'core' : group.split('.')[0]}.${version}.${resource.kind}`;
    return {
      object,
      resource,
      root: { $ref: name },
      path: `/${group === '' ? 'api' : 'apis'}/${apiVersion}/${scope}${resource.resource}`,
    };
  });
}

type Question = Pick<Answer, 'place' | 'value' | 'sent'>;

/** The whole manifest has no place that is left out. */
const WHOLE: Place = { path: [], field: '', node: {}, value: null };

/** Returns the bodies for creations. */
export function questionsAbout(shapes: Shapes, { object, root }: Manifest): Question[] {
  const changed = placesIn(shapes, object, root).flatMap((place) =>
    valuesFor(shapes, place).map((value) => ({ place, value, sent: withValue(object, place.path, value) })),
  );
  return [{ place: WHOLE, value: object, sent: object }, ...changed];
}

/** Sends a body. An answer that does not arrive, as of a handler that panics, has the status 0. */
async function ask(client: Client, method: string, path: string, question: Question): Promise<Answer> {
  const url = `${path}?dryRun=All`;
  const answer = await client.request(method, url, { body: question.sent }).catch(() => undefined);
  const body = (answer?.body ?? {}) as unknown as JsonObject;
  const details = isJsonObject(body['details']) ? body['details'] : {};
  const causes = (details['causes'] ?? []) as unknown as readonly Cause[];
  return { ...question, status: answer?.status ?? 0, causes, stored: body };
}

const PARALLEL = 8;

async function askAll(
  client: Client,
  method: string,
  path: string,
  questions: readonly Question[],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < questions.length; from += PARALLEL) {
    const some = questions.slice(from, from + PARALLEL);
    answers.push(...(await Promise.all(some.map((question) => ask(client, method, path, question)))));
  }
  return answers;
}

/** Asks about creations. @throws Error if the server refuses the whole manifest */
export async function interview(client: Client, shapes: Shapes, manifest: Manifest): Promise<Answer[]> {
  const answers = await askAll(client, 'POST', manifest.path, questionsAbout(shapes, manifest));
  const [whole] = answers;
  if (whole?.status === 201) return answers;
  throw new Error(`${manifest.path}: ${whole?.status ?? 0} ${JSON.stringify(whole?.stored)}`);
}

/** Creates the object, asks about updates, and deletes the object. @param basis object that the updates change */
export async function interviewUpdates(
  client: Client,
  shapes: Shapes,
  { object, root, path, resource }: Manifest,
  basis?: JsonObject,
): Promise<Updates> {
  const { metadata } = object;
  const { body, status } = await client.post(path, basis === undefined ? object : { ...basis, metadata });
  if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
  const stored = body as unknown as JsonObject;
  const previous = basis === undefined ? stored : { ...basis, metadata: stored['metadata'] };
  const url = `${path}/${body.metadata.name}`;
  const questions = placesIn(shapes, previous, root).flatMap((place) =>
    othersFor(shapes, place).map((value) => ({ place, value, sent: withValue(previous, place.path, value) })),
  );
  const answers = await askAll(client, 'PUT', url, questions);
  if (resource.verbs.includes('delete')) {
    await client.delete(url, { gracePeriodSeconds: 0 });
    // No controller removes finalizers, which namespaces, protected objects and objects with orphans have.
    await client.mergePatch(url, { metadata: { finalizers: null } });
    const finalized = { apiVersion: 'v1', kind: 'Namespace', metadata, spec: { finalizers: [] } };
    if (resource.kind === 'Namespace') await client.put(`${url}/finalize`, finalized);
  }
  return { previous, answers };
}

/** Returns the table with the rules that the answers of the server tell. */
export async function withRules(client: Client, table: ShapeTable): Promise<ShapeTable> {
  const shapes = structuredClone(table.shapes);
  const manifests = manifestsOf(table);
  const answers: (Answer & { readonly root: ShapeNode })[] = [];
  for (const manifest of manifests) {
    const some = await interview(client, shapes, manifest);
    answers.push(...some.map((answer) => ({ ...answer, root: manifest.root })));
  }
  learnRules(shapes, answers);
  const resources: DiscoveredResource[] = [];
  for (const resource of table.resources) {
    const updates: Updates[] = [];
    for (const manifest of manifests.filter((each) => each.resource === resource))
      updates.push(await interviewUpdates(client, shapes, manifest));
    const frozen = learnFrozen(updates);
    resources.push(frozen.length === 0 ? resource : { ...resource, frozen });
  }
  return { ...table, resources, shapes };
}
