/** The documents that are not resources: version, discovery (from which kubectl learns the resources), and OpenAPI. */

import { subresourcesOf, verbsOf } from './listed-verbs.ts';
import { openApiDocument } from './openapi.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource, ResourceTable } from '../store/resources.ts';

/** The API level of the server, whose semantics were compared with a real server of this version. */
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

interface Document {
  readonly code: number;
  readonly type: string;
  readonly body: Buffer | string;
}

const NOT_FOUND: Document = {
  code: 404,
  type: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
};

/** Returns the document at this path, or the 404. */
export function documentAt(path: string, accept: string, table: ResourceTable): Document {
  const found = discover(path, table);
  return found === undefined ? (openApi(path, accept, table) ?? NOT_FOUND) : json(found);
}

function discover(path: string, table: ResourceTable): object | undefined {
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

interface Group {
  readonly name: string;
  readonly versions: { readonly groupVersion: string; readonly version: string }[];
  readonly preferredVersion: Group['versions'][number];
}

function groups(table: ResourceTable): Group[] {
  const found = new Map<string, Set<string>>();
  for (const { group, version } of table.all()) {
    if (group !== '') found.set(group, (found.get(group) ?? new Set()).add(version));
  }
  return [...found].map(([name, known]) => {
    const versions = [...known]
      .toSorted(byPriority)
      .map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] ?? { groupVersion: name, version: '' } };
  });
}

/** Orders versions as clients prefer them: stable, beta, alpha, each with the highest number first; then all others. */
function byPriority(one: string, other: string): number {
  const ranks = [one, other].map((version) => {
    const [, major, stability, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    if (major === undefined) return [0, 0, 0];
    return [stability === undefined ? 3 : stability === 'beta' ? 2 : 1, Number(major), Number(minor)];
  });
  const [first = [], second = []] = ranks;
  const place = first.findIndex((rank, index) => rank !== second[index]);
  if (place < 0) return one < other ? -1 : 1;
  return (second[place] ?? 0) - (first[place] ?? 0);
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

function resourceEntries(definition: ServedResource): object[] {
  const { resource, kind, namespaced, shortNames = [], categories = [] } = definition;
  const main = {
    name: resource,
    singularName: definition.singular ?? kind.toLowerCase(),
    namespaced,
    kind,
    verbs: verbsOf(definition),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const parts = subresourcesOf(definition).map(({ name, verbs, body = { kind } }) => {
    return { name: `${resource}/${name}`, singularName: '', namespaced, ...body, verbs };
  });
  return [main, ...parts];
}

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** Returns the OpenAPI document at this path; the old version also as protobuf, from which old kubectl validates locally. */
function openApi(path: string, accept: string, table: ResourceTable): Document | undefined {
  if (path === '/openapi/v2' && accept.includes('proto-openapi'))
    return { code: 200, type: PROTOBUF, body: protobufDocument() };
  const document = openApiDocument(path, table);
  return document && json(document);
}

/** openapi.v2.Document { swagger = "2.0"; info { title, version }; paths {} } on the wire. */
function protobufDocument(): Buffer {
  const info = Buffer.concat([field(1, Buffer.from('Kubernetes')), field(2, Buffer.from('v1'))]);
  return Buffer.concat([field(1, Buffer.from('2.0')), field(2, info), field(8, Buffer.alloc(0))]);
}

/** A length-delimited protobuf field shorter than 128 bytes. */
function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

function json(document: object): Document {
  return { code: 200, type: 'application/json', body: `${JSON.stringify(document)}\n` };
}
