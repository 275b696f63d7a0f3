/**
 * Writes the declarations of the built-in kinds' types into the package, from the models of the installed client-node: in the form of
 * the wire, an interface a model, with the first sentence of Kubernetes' documentation. They take the place of
 * `src/kube/models.ts`, which derives the same types, so a program needs no client-node to compile
 * (docs/decisions/0038-types-without-client-node.md).
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Model {
  /** Documentation of the kind; '' without any. */
  readonly documentation: string;
  /** The members of the class, as client-node declares them. */
  readonly members: string;
}

/** A comment without another comment within. */
const COMMENT = /\/\*\*(?:(?!\*\/)[\s\S])*\*\//g;
const CLASS = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export declare class (\w+) \{\n([\s\S]*?)\n {4}static /;
/** Documentation that says less than the name of its member. */
const SELF_EVIDENT = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*('(?:apiVersion|kind|metadata)'\??:)/g;
/** Longer sentences explain more than a hover shows, and the package has a limit. */
const SENTENCE_CHARACTERS_MAX = 60;

/** client-node's names of members, and the names on the wire. */
const RENAMED: Readonly<Record<string, string>> = {
  _continue: 'continue',
  _default: 'default',
  _enum: 'enum',
  _from: 'from',
  _int: 'int',
};
/** Names that only a JSON schema has. */
const RENAMED_IN_SCHEMA: Readonly<Record<string, string>> = { ref: '$ref', schema: '$schema' };

/** Subresources and options that no group lists. */
const OTHERS = ['V1Scale', 'V1Eviction', 'V1Binding', 'AuthenticationV1TokenRequest'];

/** Groups by client-go's names, with the kinds of their resources. */
type Groups = Readonly<
  Record<
    string,
    { readonly versions: Readonly<Record<string, Readonly<Record<string, { readonly kind: string }>>>> }
  >
>;

/** Returns the text of `models.d.ts`. @param folder client-node's folder `dist/gen/models` */
export function declarationsOf(folder: string, groups: Groups): string {
  const models = readModels(folder);
  const names = reachable(models, [...rootsOf(groups), ...OTHERS]);
  const published = publishedNames(names);
  const interfaces = names.map((name) => interfaceOf(name, models.get(name), published));
  const table = names.map((name) => `${name}:${published.get(name)}`);
  return [
    '// Generated from the models of @kubernetes/client-node (Apache License 2.0, dist/THIRD-PARTY-LICENSES).',
    ...interfaces,
    `interface Models{${table.join(';')}}`,
    'export type ModelNamed<Name extends string>=Name extends keyof Models?Models[Name]:never;',
    '',
  ].join('\n');
}

function readModels(folder: string): ReadonlyMap<string, Model> {
  const models = new Map<string, Model>();
  // The folder contains files of former versions, which client-node does not export.
  const exported = readFileSync(join(folder, 'all.d.ts'), 'utf8').matchAll(/\/(\w+)\.js'/g);
  for (const file of Array.from(exported, ([, name = '']) => `${name}.d.ts`)) {
    const [, documentation = '', name, members = ''] =
      CLASS.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
    if (name === basename(file, '.d.ts')) models.set(name, { documentation, members });
  }
  return models;
}

/** Returns the names under which a model of a built-in kind may be found: two groups have events. */
function rootsOf(groups: Groups): string[] {
  return Object.entries(groups).flatMap(([group, { versions }]) =>
    Object.entries(versions).flatMap(([version, resources]) =>
      Object.values(resources).flatMap(({ kind }) => {
        const name = `${capitalized(version)}${kind}`;
        return [name, `${capitalized(group)}${name}`];
      }),
    ),
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the models of these names and all that they mention; versions of a kind are neighbours, which compress well. */
function reachable(models: ReadonlyMap<string, Model>, roots: readonly string[]): string[] {
  const found = new Set(roots.filter((name) => models.has(name)));
  // The loop also visits the names that it adds.
  for (const name of found) {
    const { members = '' } = models.get(name) ?? {};
    for (const [mentioned] of members.replace(COMMENT, '').matchAll(/\b[A-Z]\w+/g)) {
      if (models.has(mentioned)) found.add(mentioned);
    }
  }
  return [...found].toSorted((a, b) => (bare(a) === bare(b) ? compared(a, b) : compared(bare(a), bare(b))));
}

function compared(a: string, b: string): number {
  return a < b ? -1 : 1;
}

/** Returns the name without group and version. */
function bare(name: string): string {
  return name.replace(/^.*?V\d+(?:(?:alpha|beta)\d+)?(?=[A-Z])/, '');
}

/** Names that compilers and readers expect to mean something else. */
const TAKEN: ReadonlySet<string> = new Set(['Models', 'ModelNamed']);

/** Returns the name of each interface: the kind's own for version 1, else client-node's. */
function publishedNames(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set(TAKEN);
  const published = new Map<string, string>();
  // First the models without a group: `V1Event` before `EventsV1Event`.
  for (const name of names.toSorted((a, b) => a.length - b.length)) {
    const own = bare(name);
    const isFirst = /(?:^|[a-z])V1[A-Z]/.test(name) && !used.has(own);
    if (isFirst) used.add(own);
    published.set(name, isFirst ? own : name);
  }
  return published;
}

function interfaceOf(name: string, model: Model | undefined, published: ReadonlyMap<string, string>): string {
  const { documentation = '', members = '' } = model ?? {};
  const isStable = /V\d+[A-Z]/.test(name);
  const sentence = (comment: string): string => (isStable ? firstSentence(comment) : '');
  const isSchema = members.includes('x_kubernetes_validations');
  const lines = members
    .replace(SELF_EVIDENT, '$1')
    .replace(COMMENT, sentence)
    .replace(
      /'(\w+)'(\??): /g,
      (_all, member: string, optional: string) => `readonly ${wireName(member, isSchema)}${optional}:`,
    )
    .replace(/\[key: string\]: /g, 'readonly[key:string]:')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const body = typesOnTheWire(lines.join('\n'), published);
  const header = sentence(documentation);
  return `${header === '' ? '' : `${header}\n`}export interface ${published.get(name)}{\n${body}\n}`;
}

function wireName(member: string, isSchema: boolean): string {
  const name = RENAMED[member] ?? (isSchema ? RENAMED_IN_SCHEMA[member] : undefined) ?? member;
  if (member.startsWith('x_kubernetes_')) return `'${member.replaceAll('_', '-')}'`;
  return /^\w+$/.test(name) ? name : `'${name}'`;
}

/** Replaces the types behind the colons: read-only lists, times as text, the names of interfaces. */
function typesOnTheWire(body: string, published: ReadonlyMap<string, string>): string {
  return body
    .split('\n')
    .map((line) => {
      const at = line.lastIndexOf(':');
      if (at === -1 || line.startsWith('/**')) return line;
      const type = line
        .slice(at + 1)
        .replace(/\bArray<(\w+)>/g, 'readonly $1[]')
        .replace(/\b(?:Date|V1MicroTime)\b/g, 'string')
        .replace(/\bIntOrString\b/g, 'number|string')
        .replace(/\bany\b/g, 'unknown')
        .replace(/\b[A-Z]\w+/g, (name) => published.get(name) ?? name);
      return line.slice(0, at + 1) + type.replace(/;$/, '');
    })
    .join('\n');
}

/** Returns the first sentence as a comment; '' when it is long. */
function firstSentence(comment: string): string {
  const text = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/\n\s*\*/g, ' ')
    .replace(/\\(['"])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  const sentence = /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence === '' || sentence.length > SENTENCE_CHARACTERS_MAX ? '' : `/** ${sentence} */`;
}
