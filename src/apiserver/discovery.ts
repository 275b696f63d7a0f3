/** The documents that are not resources: health, version, and discovery, from which kubectl learns the resources. */

import { apiVersionOf } from './resources.ts';
import type { ResourceDefinition, ResourceTable } from './resources.ts';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const STATUS_VERBS = ['get', 'patch', 'update'];
/** The API level of the server. Its semantics were compared with a real server of this version. */
const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0-kubeloom',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch}`,
};

/** Returns the document at this path, or undefined when there is none. */
export function discover(path: string, table: ResourceTable): object | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  switch (parts.join('/')) {
    case 'version':
      return VERSION;
    case 'api':
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    case 'api/v1':
      return resourceList(table, '', 'v1');
    case 'apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups(table) };
    default:
      break;
  }
  const [root, group = '', version = ''] = parts;
  if (root !== 'apis' || parts.length > 3) return undefined;
  if (parts.length === 3) return resourceList(table, group, version);
  const found = groups(table).find(({ name }) => name === group);
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...found };
}

interface GroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

interface Group {
  readonly name: string;
  readonly versions: GroupVersion[];
  readonly preferredVersion: GroupVersion;
}

function groups(table: ResourceTable): Group[] {
  const found = new Map<string, Group>();
  for (const definition of table.all()) {
    const { group: name, version } = definition;
    if (name === '') continue;
    const groupVersion = { groupVersion: apiVersionOf(definition), version };
    const group = found.get(name) ?? { name, versions: [], preferredVersion: groupVersion };
    if (!group.versions.some((known) => known.version === version)) group.versions.push(groupVersion);
    found.set(name, group);
  }
  return [...found.values()];
}

function resourceList(table: ResourceTable, group: string, version: string): object | undefined {
  const definitions = table.all().filter((entry) => entry.group === group && entry.version === version);
  const [first] = definitions;
  if (first === undefined) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(first),
    resources: definitions.flatMap(resourceEntries),
  };
}

function resourceEntries(definition: ResourceDefinition): object[] {
  const { resource, kind, namespaced, shortNames = [], status } = definition;
  const entry = { name: resource, singularName: kind.toLowerCase(), namespaced, kind, verbs: VERBS };
  const main = shortNames.length === 0 ? entry : { ...entry, shortNames };
  if (status !== true) return [main];
  return [main, { name: `${resource}/status`, singularName: '', namespaced, kind, verbs: STATUS_VERBS }];
}
