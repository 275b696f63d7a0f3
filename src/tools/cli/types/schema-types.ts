/**
 * TypeScript for structural schemas. They are a small part of JSON schema: no references, a single type for each value,
 * and no logic that changes a type, so that a walk over the tree writes everything (docs/decisions/0033-own-types.md).
 */
import { isJsonObject } from '../../apiserver/store/json.ts';
import type { JsonObject } from '../../apiserver/store/json.ts';
import { EMBEDDED, INT_OR_STRING, PRESERVE } from '../../apiserver/crd/schema-node.ts';
import { literal, memberName, pascal } from './identifiers.ts';
import type { Identifiers } from './identifiers.ts';

const ANY_FIELDS = '{ readonly [field: string]: unknown }';

/** Members of an object that the schema does not define. */
export type FixedMembers = ReadonlyMap<string, string>;

export class SchemaTypes {
  readonly #names: Identifiers;
  readonly #interfaces: string[] = [];

  constructor(names: Identifiers) {
    this.#names = names;
  }

  /** The interfaces in the order of their first use. */
  get interfaces(): readonly string[] {
    return this.#interfaces;
  }

  /**
   * Writes the interface of an object and the interfaces of nested objects; returns the name of the outer interface.
   */
  interfaceOf(schema: JsonObject, wanted: string, fixed: FixedMembers = new Map()): string {
    const name = this.#names.take(wanted);
    const place = this.#interfaces.push('') - 1;
    const { properties, required } = schema;
    const names = new Set(Array.isArray(required) ? required : []);
    const members = [...fixed].map(([member, type]) => `  readonly ${member}?: ${type};`);
    for (const [member, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
      if (fixed.has(member)) continue;
      const own = isJsonObject(value) ? value : {};
      // The comment is written at the member, not repeated at the interface.
      const { description: _description, default: _default, ...shape } = own;
      const type = this.typeOf(shape, `${name}${pascal(member)}`);
      // The server fills a default before it checks what is required: a write may leave the member out.
      const optional = names.has(member) && own['default'] === undefined ? '' : '?';
      members.push(...commentOf(own, '  '), `  readonly ${memberName(member)}${optional}: ${type};`);
    }
    if (schema[PRESERVE] === true || !isJsonObject(properties))
      members.push('  readonly [field: string]: unknown;');
    const lines = [...commentOf(schema, ''), `export interface ${name} {`, ...members, '}'];
    this.#interfaces[place] = lines.join('\n');
    return name;
  }

  /** Returns the type of a value. @param name of the interface that the value may need */
  typeOf(schema: JsonObject, name: string): string {
    const type = this.#typeOf(schema, name);
    return schema['nullable'] === true && type !== 'unknown' && !/\bnull$/.test(type)
      ? `${type} | null`
      : type;
  }

  #typeOf(schema: JsonObject, name: string): string {
    const choices = schema['enum'];
    if (Array.isArray(choices) && choices.length > 0) return unionOf(choices);
    if (schema[INT_OR_STRING] === true) return 'number | string';
    switch (schema['type']) {
      case 'string':
      case 'boolean':
        return schema['type'];
      case 'integer':
      case 'number':
        return 'number';
      case 'array':
        return this.#arrayOf(schema, name);
      default:
        return this.#objectOf(schema, name);
    }
  }

  #arrayOf({ items }: JsonObject, name: string): string {
    const item = isJsonObject(items) ? this.typeOf(items, `${name}Item`) : 'unknown';
    return / \| |^readonly /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`;
  }

  #objectOf(schema: JsonObject, name: string): string {
    const { additionalProperties, properties, type } = schema;
    const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0;
    if (schema[EMBEDDED] === true) {
      if (!hasProperties) return 'KubeObject';
      return this.interfaceOf(schema, name, EMBEDDED_MEMBERS);
    }
    if (hasProperties) return this.interfaceOf(schema, name);
    if (isJsonObject(additionalProperties))
      return `{ readonly [name: string]: ${this.typeOf(additionalProperties, `${name}Value`)} }`;
    return type === 'object' ? ANY_FIELDS : 'unknown';
  }
}

export const METADATA_TYPE = "NonNullable<KubeObject['metadata']>";

const EMBEDDED_MEMBERS: FixedMembers = new Map([
  ['apiVersion', 'string'],
  ['kind', 'string'],
  ['metadata', METADATA_TYPE],
]);

function unionOf(choices: readonly unknown[]): string {
  const literals = choices.map((choice) =>
    choice === null || ['string', 'number', 'boolean'].includes(typeof choice)
      ? literal(choice as string | number | boolean | null)
      : 'unknown',
  );
  const union = [...new Set(literals)];
  return union.includes('unknown') ? 'unknown' : union.toSorted(nullLast).join(' | ');
}

function nullLast(one: string, other: string): number {
  return Number(one === 'null') - Number(other === 'null');
}

/** The description and the default of a value. */
function commentOf(schema: JsonObject, indent: string): string[] {
  const { description, default: initial } = schema;
  const lines = typeof description === 'string' ? description.trim().split(/\r\n|\r|\n/) : [];
  const tags = initial === undefined ? [] : [`@default ${JSON.stringify(initial)}`];
  const text = [...lines.filter((line, index) => index > 0 || line !== ''), ...tags].map(
    // A description may contain the end of a comment.
    (line) =>
      line
        .trimEnd()
        .replaceAll('\t', '  ')
        .replaceAll('*/', String.raw`*\/`),
  );
  if (text.length === 0) return [];
  if (text.length === 1) return [`${indent}/** ${text[0]} */`];
  return [
    `${indent}/**`,
    ...text.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`),
    `${indent} */`,
  ];
}
