/** Reads a server's discovery documents: which resources it serves, in which groups and versions. */
import { messageOf } from '../base/errors.ts';
import { listAt, textAt, valueAt } from './wire-path.ts';

/** Requests a path of the server with GET and parses the JSON; rejects for every status but 200. */
export type GetJson = (path: string) => Promise<unknown>;

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** A resource in a discovery document. */
export interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
}

/** A version of a group, without subresources. */
export interface DiscoveryDocument extends GroupVersion {
  readonly resources: readonly ApiResource[];
}

export interface Discovery {
  /** The core group first, then the groups in the server's order, the preferred versions before all others. */
  readonly documents: readonly DiscoveryDocument[];
  /** The versions that could not be read, each with the reason. */
  readonly failures: readonly string[];
}

const CORE: GroupVersion = { group: '', version: 'v1' };
const REQUESTS_MAX = 8;

/**
 * Reads all documents, a few at a time. A group that cannot be read hides no other: for this group the document in `known` counts.
 *
 * @throws the error of `getJson` when the list of groups cannot be read
 */
export async function discover(getJson: GetJson, known: readonly DiscoveryDocument[]): Promise<Discovery> {
  const all = [CORE, ...(await groupVersions(getJson))];
  const documents: DiscoveryDocument[] = [];
  const failures: string[] = [];
  const read = async ({ group, version }: GroupVersion): Promise<DiscoveryDocument | undefined> => {
    try {
      return { group, version, resources: await resourcesOf({ group, version }, getJson) };
    } catch (error) {
      failures.push(`${group}/${version}: ${messageOf(error)}`);
      return known.find((document) => document.group === group && document.version === version);
    }
  };
  for (let start = 0; start < all.length; start += REQUESTS_MAX) {
    const batch = await Promise.all(all.slice(start, start + REQUESTS_MAX).map(read));
    documents.push(...batch.filter((document) => document !== undefined));
  }
  return { documents, failures };
}

/** Returns all versions of all groups except the core, the preferred versions first. */
async function groupVersions(getJson: GetJson): Promise<GroupVersion[]> {
  const preferred: GroupVersion[] = [];
  const others: GroupVersion[] = [];
  for (const group of listAt(await getJson('/apis'), 'groups')) {
    const name = textAt(group, 'name');
    const first = textAt(group, 'preferredVersion.version');
    if (first !== '') preferred.push({ group: name, version: first });
    for (const entry of listAt(group, 'versions')) {
      const version = textAt(entry, 'version');
      if (version !== '' && version !== first) others.push({ group: name, version });
    }
  }
  return [...preferred, ...others];
}

async function resourcesOf(
  { group, version }: GroupVersion,
  getJson: GetJson,
): Promise<readonly ApiResource[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return listAt(await getJson(path), 'resources')
    .map(apiResource)
    .filter(({ name }) => name !== '' && !name.includes('/'));
}

function apiResource(entry: unknown): ApiResource {
  return {
    name: textAt(entry, 'name'),
    singularName: textAt(entry, 'singularName'),
    kind: textAt(entry, 'kind'),
    namespaced: valueAt(entry, 'namespaced') === true,
    verbs: listAt(entry, 'verbs').map(String),
    shortNames: listAt(entry, 'shortNames').map(String),
  };
}
