/**
 * The rights that requests need, as Role and ClusterRole: `rbac()` of the control API. Rules name verbs as the authorizer of a
 * cluster does.
 */

export interface RbacOptions {
  /** Name of the roles. Default: `controller`. */
  readonly name?: string;
  /**
   * Namespaces that get a Role. Rights in all other namespaces are in the ClusterRole; empty: all rights. Default: if the program
   * watches a resource in all namespaces, the namespaces of its Leases, else each namespace that a request named.
   */
  readonly namespaces?: readonly string[];
}

const NAME = 'controller';
const LEASES = 'coordination.k8s.io leases';
const EVENTS: readonly string[] = [' events', 'events.k8s.io events'];
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
/** Reviews of the user's own rights and identity, which every user may create: the role system:basic-user. */
const OF_EVERY_USER: ReadonlySet<string> = new Set([
  'authorization.k8s.io selfsubjectaccessreviews',
  'authorization.k8s.io selfsubjectrulesreviews',
  'authentication.k8s.io selfsubjectreviews',
]);
/** Text that YAML reads as a string. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][a-z0-9./-]*$/;

interface Right {
  readonly group: string;
  /** With the subresource: `deployments/status`. */
  readonly resource: string;
  readonly verb: string;
}

/** @internal The parts of a request's path that a right depends on. */
export interface RequestedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** '' for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
}

/** @internal */
export class Rights {
  /** By namespace ('' for requests outside a namespace) and text. */
  readonly #byNamespace: Map<string, Map<string, Right>> = new Map();
  /** Group and name of the resources that are watched in all namespaces. */
  readonly #everywhere: Set<string> = new Set();

  /** @param verb as the authorizer names it */
  add({ group, resource, subresource, namespace }: RequestedResource, verb: string): void {
    if (OF_EVERY_USER.has(`${group} ${resource}`)) return;
    const right = { group, resource: subresource === '' ? resource : `${resource}/${subresource}`, verb };
    const rights = this.#byNamespace.get(namespace) ?? new Map<string, Right>();
    this.#byNamespace.set(namespace, rights.set(keyOf(right), right));
  }

  /** Says that the program sees the objects of a resource in all namespaces. */
  watchedEverywhere({ group, resource }: RequestedResource): void {
    this.#everywhere.add(`${group} ${resource}`);
  }

  clear(): void {
    this.#byNamespace.clear();
    this.#everywhere.clear();
  }

  /**
   * Returns the YAML of the roles; empty if there are no rights. A Role omits the rights that the ClusterRole grants.
   */
  yaml({ name = NAME, namespaces }: RbacOptions): string {
    const isOwn = (namespace: string, right: Right): boolean =>
      namespace !== '' && (namespaces ? namespaces.includes(namespace) : this.#isOfTheProgram(right));
    const own = new Map<string, Map<string, Right>>();
    const everywhere = new Map<string, Right>();
    for (const [namespace, rights] of this.#byNamespace)
      for (const right of withLaterVerbs(rights)) {
        if (!isOwn(namespace, right) || this.#isEverywhere(right)) everywhere.set(keyOf(right), right);
        else own.set(namespace, (own.get(namespace) ?? new Map<string, Right>()).set(keyOf(right), right));
      }
    const documents = [documentOf('ClusterRole', name, '', [...everywhere.values()])];
    for (const [namespace, rights] of [...own].toSorted(byKey)) {
      const missing = [...rights.values()].filter((right) => !everywhere.has(keyOf(right)));
      documents.push(documentOf('Role', name, namespace, missing));
    }
    return documents.filter((text) => text !== '').join('---\n');
  }

  /** A program that watches a resource in all namespaces also writes in all, and its Events are beside the objects. */
  #isEverywhere(right: Right): boolean {
    const name = resourceOf(right);
    return this.#everywhere.has(name) || (EVENTS.includes(name) && this.#everywhere.size > 0);
  }

  /** The namespaces of a test are those of the program, unless the program watches all namespaces: a Lease keeps its namespace. */
  #isOfTheProgram(right: Right): boolean {
    return this.#everywhere.size === 0 || resourceOf(right) === LEASES;
  }
}

/** Adds the verbs that follow in a cluster, although a test ends before: a Lease is renewed, a dead member's is deleted, an Event is counted. */
function withLaterVerbs(rights: ReadonlyMap<string, Right>): readonly Right[] {
  const has = (name: string, ...verbs: string[]): boolean =>
    verbs.some((verb) => rights.has(`${name} ${verb}`));
  const later: [string, string[]][] = EVENTS.filter((name) => has(name, 'create')).map((name) => [
    name,
    ['patch'],
  ]);
  if (has(LEASES, 'get', 'create', 'update')) later.push([LEASES, ['get', 'create', 'update']]);
  if (has(LEASES, 'create') && has(LEASES, 'watch')) later.push([LEASES, ['delete']]);
  const added = later.flatMap(([name, verbs]) => {
    const [group = '', resource = ''] = name.split(' ');
    return verbs.map((verb) => ({ group, resource, verb }));
  });
  return [...rights.values(), ...added];
}

/** Group and name without the subresource. */
function resourceOf({ group, resource }: Right): string {
  return `${group} ${resource.split('/', 1)[0]}`;
}

function keyOf({ group, resource, verb }: Right): string {
  return `${group} ${resource} ${verb}`;
}

function documentOf(
  kind: 'Role' | 'ClusterRole',
  name: string,
  namespace: string,
  rights: readonly Right[],
): string {
  if (rights.length === 0) return '';
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    `  name: ${scalar(name)}`,
    ...(namespace === '' ? [] : [`  namespace: ${scalar(namespace)}`]),
    'rules:',
    ...rulesOf(rights),
    '',
  ].join('\n');
}

/** A rule for the resources of a group that need the same verbs, in the order of their names. */
function rulesOf(rights: readonly Right[]): string[] {
  const verbsOf = new Map<
    string,
    { readonly group: string; readonly resource: string; readonly verbs: Set<string> }
  >();
  for (const { group, resource, verb } of rights) {
    const key = `${group} ${resource}`;
    const known = verbsOf.get(key) ?? { group, resource, verbs: new Set() };
    known.verbs.add(verb);
    verbsOf.set(key, known);
  }
  const rules = new Map<
    string,
    { readonly group: string; readonly verbs: string; readonly resources: string[] }
  >();
  for (const [, { group, resource, verbs }] of [...verbsOf].toSorted(byKey)) {
    const list = flow(VERBS.filter((verb) => verbs.has(verb)));
    const key = `${group} ${list}`;
    const rule = rules.get(key) ?? { group, verbs: list, resources: [] };
    rule.resources.push(resource);
    rules.set(key, rule);
  }
  return [...rules.values()].flatMap(({ group, verbs, resources }) => [
    `  - apiGroups: ${flow([group])}`,
    `    resources: ${flow(resources)}`,
    `    verbs: ${verbs}`,
  ]);
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function flow(texts: readonly string[]): string {
  return `[${texts.map(scalar).join(', ')}]`;
}

function scalar(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text);
}
