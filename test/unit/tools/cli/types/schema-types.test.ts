/** TypeScript for single values of structural schemas, for names, and for what descriptions may contain. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../../src/tools/apiserver/store/json.ts';
import { Identifiers, memberName, pluralName } from '../../../../../src/tools/cli/types/identifiers.ts';
import { SchemaTypes } from '../../../../../src/tools/cli/types/schema-types.ts';

const PRESERVE = { 'x-kubernetes-preserve-unknown-fields': true };
const INT_OR_STRING = { 'x-kubernetes-int-or-string': true };
const EMBEDDED = { type: 'object', 'x-kubernetes-embedded-resource': true };

const VALUES: readonly (readonly [schema: JsonObject, type: string])[] = [
  [{ type: 'string' }, 'string'],
  [{ type: 'string', nullable: true }, 'string | null'],
  [{ type: 'integer', format: 'int64' }, 'number'],
  [{ type: 'number' }, 'number'],
  [{ type: 'boolean' }, 'boolean'],
  [{ type: 'string', enum: ['a', "b'c", 'd"e'] }, String.raw`'a' | 'b\'c' | 'd"e'`],
  [{ type: 'string', enum: [null, 'a', 'a'], nullable: true }, "'a' | null"],
  [{ type: 'integer', enum: [1, 2] }, '1 | 2'],
  [{ enum: [{ a: 1 }] }, 'unknown'],
  [INT_OR_STRING, 'number | string'],
  [{ ...INT_OR_STRING, nullable: true }, 'number | string | null'],
  [{ type: 'array', items: { type: 'string' } }, 'readonly string[]'],
  [{ type: 'array', items: INT_OR_STRING }, 'readonly (number | string)[]'],
  [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, 'readonly (readonly string[])[]'],
  [{ type: 'array', items: { type: 'string' }, nullable: true }, 'readonly string[] | null'],
  [{ type: 'array' }, 'readonly unknown[]'],
  [{ type: 'object', additionalProperties: INT_OR_STRING }, '{ readonly [name: string]: number | string }'],
  [{ type: 'object', additionalProperties: true }, '{ readonly [field: string]: unknown }'],
  [{ type: 'object' }, '{ readonly [field: string]: unknown }'],
  [{ type: 'object', properties: {} }, '{ readonly [field: string]: unknown }'],
  [{ type: 'object', ...PRESERVE }, '{ readonly [field: string]: unknown }'],
  [PRESERVE, 'unknown'],
  [{ ...PRESERVE, nullable: true }, 'unknown'],
  [{}, 'unknown'],
  [EMBEDDED, 'KubeObject'],
  [{ ...EMBEDDED, ...PRESERVE }, 'KubeObject'],
  [{ type: 'object', properties: { a: { type: 'string' } } }, 'Name'],
  [{ properties: { a: {} } }, 'Name'],
];

function interfacesOf(schema: JsonObject, ...taken: string[]): readonly string[] {
  const types = new SchemaTypes(new Identifiers(...taken));
  types.typeOf(schema, 'Name');
  return types.interfaces;
}

describe('a value of a structural schema', () => {
  for (const [schema, type] of VALUES) {
    it(`${JSON.stringify(schema)} is ${type}`, () => {
      assert.equal(new SchemaTypes(new Identifiers()).typeOf(schema, 'Name'), type);
    });
  }

  it('with members is an interface, and those within follow it with names of their own', () => {
    const inner = { type: 'object', properties: { 'x-y': { type: 'string' } } };
    const schema = {
      type: 'object',
      required: ['bC'],
      properties: {
        bC: inner,
        b: { type: 'object', properties: { c: inner } },
        list: { type: 'array', items: inner },
      },
    };
    assert.deepEqual(interfacesOf(schema), [
      'export interface Name {\n  readonly bC: NameBC;\n  readonly b?: NameB;\n  readonly list?: readonly NameListItem[];\n}',
      "export interface NameBC {\n  readonly 'x-y'?: string;\n}",
      'export interface NameB {\n  readonly c?: NameBC2;\n}',
      "export interface NameBC2 {\n  readonly 'x-y'?: string;\n}",
      "export interface NameListItem {\n  readonly 'x-y'?: string;\n}",
    ]);
  });

  it('may lack a required member that the server fills, and no other required member', () => {
    const properties = { a: { type: 'integer', default: 0 }, b: { type: 'integer' } };
    const [text] = interfacesOf({ type: 'object', required: ['a', 'b'], properties });
    assert.equal(
      text,
      'export interface Name {\n  /** @default 0 */\n  readonly a?: number;\n  readonly b: number;\n}',
    );
  });

  it('keeps unknown fields beside its members where the server does', () => {
    const properties = { a: { type: 'string' } };
    const [text] = interfacesOf({ type: 'object', ...PRESERVE, properties });
    assert.equal(
      text,
      'export interface Name {\n  readonly a?: string;\n  readonly [field: string]: unknown;\n}',
    );
    const [embedded = ''] = interfacesOf({
      ...EMBEDDED,
      properties: { ...properties, kind: { type: 'string' } },
    });
    assert.deepEqual(embedded.split('\n').slice(1, -1), [
      '  readonly apiVersion?: string;',
      '  readonly kind?: string;',
      "  readonly metadata?: NonNullable<KubeObject['metadata']>;",
      '  readonly a?: string;',
    ]);
  });

  it('has its description and default as a comment, which they cannot end', () => {
    const description = '\n one */ alert() /*\r\n\r\n\ttwo  \n';
    const properties = {
      a: { type: 'string', description },
      b: { type: 'string', description: 'b', default: '*/' },
      c: { type: 'array', default: [{ d: 1 }] },
      d: { type: 'string', description: 1 as never, default: null },
    };
    assert.deepEqual(interfacesOf({ properties })[0]?.split('\n'), [
      'export interface Name {',
      '  /**',
      String.raw`   * one *\/ alert() /*`,
      '   *',
      '   *   two',
      '   */',
      '  readonly a?: string;',
      '  /**',
      '   * b',
      String.raw`   * @default "*\/"`,
      '   */',
      '  readonly b?: string;',
      '  /** @default [{"d":1}] */',
      '  readonly c?: readonly unknown[];',
      '  /** @default null */',
      '  readonly d?: string;',
      '}',
    ]);
  });
});

describe('a name', () => {
  it('of a member has quotes unless it is an identifier', () => {
    const names = ['a', '$ref', 'x-y', '1a', '', 'ä', "it's", 'a\nb', '__proto__', 'a\u2028b'];
    assert.deepEqual(names.map(memberName), [
      'a',
      '$ref',
      "'x-y'",
      "'1a'",
      "''",
      'ä',
      String.raw`'it\'s'`,
      String.raw`'a\nb'`,
      '__proto__',
      "'a\u2028b'",
    ]);
  });

  it('of a resource is its plural with the capitals of its kind', () => {
    const names = [
      ['Certificate', 'certificates'],
      ['CertificateRequest', 'certificaterequests'],
      ['NetworkPolicy', 'networkpolicies'],
      ['HTTPRoute', 'httproutes'],
      ['XBucket', 'xbuckets'],
      ['CNI', 'cnis'],
      ['Mouse', 'mice'],
      ['Thing', 'a-b.c'],
    ] as const;
    const plurals = names.map(([kind, plural]) => pluralName(kind, plural));
    assert.deepEqual(plurals, [
      'certificates',
      'certificateRequests',
      'networkPolicies',
      'httpRoutes',
      'xBuckets',
      'cnis',
      'mice',
      'aBC',
    ]);
  });

  it('is taken once, and is not a reserved word', () => {
    const names = new Identifiers('Name');
    const taken = ['Name', 'Name', 'Name2', 'default', '1st'].map((name) => names.take(name));
    assert.deepEqual(taken, ['Name2', 'Name3', 'Name22', '_default', '_1st']);
  });
});
