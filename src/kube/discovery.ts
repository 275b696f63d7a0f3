/**
 * Finds the collection for a typed name through the server's discovery, as kubectl does. The name is a plural,
 * singular or short name or a kind; alone, with its group (`deployments.apps`), or with version and group
 * (`deployments.v1.apps`). The core group comes first, then the groups in the server's order, each with its
 * preferred version first.
 */
import { KubeloomError } from '../base/errors.ts';
import type { ResourceRef } from './resource.ts';

/** Requests a path of the server with GET and parses the JSON; rejects for every status but 200. */
export type GetJson = (path: string) => Promise<unknown>;

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** One resource in a discovery document. */
export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
}

type Found = ResourceRef & { readonly verbs: readonly string[] };

export const CORE: GroupVersion = { group: '', version: 'v1' };
/** Maximum number of documents requested at the same time. */
export const REQUESTS_MAX = 8;

/**
 * Finds the collection for a name.
 *
 * @throws ERR_KUBELOOM_UNKNOWN_RESOURCE when no group has it, ERR_KUBELOOM_NOT_WATCHABLE when it cannot be
 * listed and watched, and the error of `getJson` when no document can be read
 */
export async function findResource(name: string, getJson: GetJson): Promise<ResourceRef> {
  const failures: string[] = [];
  const wanted = name.toLowerCase();
  const [resource = '', ...suffix] = wanted.split('.');
  if (resource === '') throw unknownResource(name, failures);
  const isCoreFirst = suffix.length === 0 || suffix.join('.') === CORE.version;
  const inCore = isCoreFirst ? await lookUp(resource, CORE, getJson, rethrow) : undefined;
  const found = inCore ?? (await lookUpGroups(resource, suffix.join('.'), getJson, failures));
  if (!found) throw unknownResource(name, failures);
  requireWatchable(name, found.verbs);
  return refOf(found);
}

/** @throws ERR_KUBELOOM_NOT_WATCHABLE unless it can be listed and watched */
export function requireWatchable(name: string, verbs: readonly string[]): void {
  if (verbs.includes('list') && verbs.includes('watch')) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_NOT_WATCHABLE',
    `${name} cannot be watched: the server offers only ${verbs.join(', ') || 'nothing'} for it`,
  );
}

function rethrow(error: unknown): never {
  throw error;
}

async function lookUpGroups(
  resource: string,
  suffix: string,
  getJson: GetJson,
  failures: string[],
): Promise<Found | undefined> {
  const candidates = (await groupVersions(getJson)).filter(
    ({ group, version }) => suffix === '' || suffix === group || suffix === `${version}.${group}`,
  );
  for (let start = 0; start < candidates.length; start += REQUESTS_MAX) {
    const batch = candidates.slice(start, start + REQUESTS_MAX);
    const results = await Promise.all(
      batch.map((candidate) =>
        // A group whose server is down must not hide the others.
        lookUp(resource, candidate, getJson, (error) => {
          const reason = error instanceof Error ? error.message : String(error);
          failures.push(`${candidate.group}/${candidate.version}: ${reason}`);
        }),
      ),
    );
    const found = results.find((result) => result !== undefined);
    if (found) return found;
  }
  return undefined;
}

/** Returns all versions of all groups except the core, the preferred versions first. */
export async function groupVersions(getJson: GetJson): Promise<GroupVersion[]> {
  const preferred: GroupVersion[] = [];
  const others: GroupVersion[] = [];
  for (const group of arrayOf(await getJson('/apis'), 'groups')) {
    const name = stringOf(group, 'name');
    const first = stringOf(member(group, 'preferredVersion'), 'version');
    if (first !== '') preferred.push({ group: name, version: first });
    for (const entry of arrayOf(group, 'versions')) {
      const version = stringOf(entry, 'version');
      if (version !== '' && version !== first) others.push({ group: name, version });
    }
  }
  return [...preferred, ...others];
}

async function lookUp(
  wanted: string,
  { group, version }: GroupVersion,
  getJson: GetJson,
  onError: (error: unknown) => void,
): Promise<Found | undefined> {
  let resources: readonly ApiResource[];
  try {
    resources = await resourcesOf({ group, version }, getJson);
  } catch (error) {
    onError(error);
    return undefined;
  }
  const match =
    resources.find(({ name }) => name === wanted) ??
    resources.find(({ singularName, kind }) => singularName === wanted || kind.toLowerCase() === wanted) ??
    resources.find(({ shortNames }) => shortNames.includes(wanted));
  if (!match) return undefined;
  const { name: resource, kind, namespaced: isNamespaced, verbs } = match;
  return { group, version, resource, kind, isNamespaced, verbs };
}

/** Returns all resources of one version, without their subresources. */
export async function resourcesOf(
  { group, version }: GroupVersion,
  getJson: GetJson,
): Promise<readonly ApiResource[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return arrayOf(await getJson(path), 'resources')
    .map(apiResource)
    .filter(({ name }) => name !== '' && !name.includes('/'));
}

function refOf({ group, version, resource, kind, isNamespaced }: Found): ResourceRef {
  return { group, version, resource, kind, isNamespaced };
}

export function unknownResource(name: string, failures: readonly string[]): KubeloomError {
  const unread = failures.length > 0 ? ` Not readable: ${failures.join('; ')}.` : '';
  return new KubeloomError(
    'ERR_KUBELOOM_UNKNOWN_RESOURCE',
    `the server has no resource "${name}": looked for a plural, singular or short name or a kind, alone or ` +
      `with its group (pods, pod, po, deployments.apps).${unread} ` +
      '"kubectl api-resources" lists what there is',
  );
}

function apiResource(entry: unknown): ApiResource {
  return {
    name: stringOf(entry, 'name'),
    singularName: stringOf(entry, 'singularName'),
    kind: stringOf(entry, 'kind'),
    namespaced: member(entry, 'namespaced') === true,
    verbs: arrayOf(entry, 'verbs').map(String),
    shortNames: arrayOf(entry, 'shortNames').map(String),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function stringOf(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

function arrayOf(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : [];
}
