/**
 * The rights that requests need, as Role and ClusterRole: `rbac()` of the control API. Rules name verbs as the authorizer of a
 * cluster does.
 */

export interface RbacOptions {
  /** Name of the roles. Default: `controller`. */
  readonly name?: string;
  /**
   * Namespaces that get a Role. Rights in all other namespaces are in the ClusterRole. Default: each namespace that a
   * request named; empty: none.
   */
  readonly namespaces?: readonly string[];
}

const NAME = 'controller';
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

  /** @param verb as the authorizer names it */
  add({ group, resource, subresource, namespace }: RequestedResource, verb: string): void {
    if (OF_EVERY_USER.has(`${group} ${resource}`)) return;
    const right = { group, resource: subresource === '' ? resource : `${resource}/${subresource}`, verb };
    const rights = this.#byNamespace.get(namespace) ?? new Map<string, Right>();
    this.#byNamespace.set(namespace, rights.set(keyOf(right), right));
  }

  clear(): void {
    this.#byNamespace.clear();
  }

  /**
   * Returns the YAML of the roles; empty if there are no rights. A Role omits the rights that the ClusterRole grants.
   */
  yaml({ name = NAME, namespaces = [...this.#byNamespace.keys()] }: RbacOptions): string {
    const own = new Set(namespaces.filter((namespace) => namespace !== ''));
    const everywhere = new Map<string, Right>();
    for (const [namespace, rights] of this.#byNamespace)
      if (!own.has(namespace)) for (const [key, right] of rights) everywhere.set(key, right);
    const documents = [documentOf('ClusterRole', name, '', [...everywhere.values()])];
    for (const namespace of [...own].toSorted()) {
      const rights = [...(this.#byNamespace.get(namespace) ?? [])].filter(([key]) => !everywhere.has(key));
      documents.push(
        documentOf(
          'Role',
          name,
          namespace,
          rights.map(([, right]) => right),
        ),
      );
    }
    return documents.filter((text) => text !== '').join('---\n');
  }
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
