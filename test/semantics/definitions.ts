/** CustomResourceDefinitions for the suite: a schema with every kind of rule, and a group for each use. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Answer } from './client.ts';
import type { Fixture } from './fixture.ts';
import { ok } from './fixture.ts';
import { until } from '../kit/until.ts';

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const text: object = { type: 'string' };
export const SPEC: {
  readonly type: string;
  readonly required: readonly string[];
  readonly properties: object;
} = {
  type: 'object',
  required: ['replicas'],
  properties: {
    replicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
    size: { type: 'string', enum: ['small', 'large'], default: 'small' },
    name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
    note: { type: 'string', nullable: true },
    plain: text,
    since: { type: 'string', format: 'date-time' },
    port: { 'x-kubernetes-int-or-string': true },
    labels: { type: 'object', additionalProperties: text, maxProperties: 2 },
    parts: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: {
        type: 'object',
        required: ['id'],
        properties: { id: text, weight: { type: 'integer', default: 1 } },
      },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object' } },
    },
    one: {
      type: 'object',
      properties: { a: text, b: text },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  },
};

const STATUS = { type: 'object', properties: { replicas: { type: 'integer' }, selector: text } };

export function version(name: string, more: object = {}): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: SPEC, status: STATUS } } };
  return { name, served: true, storage: false, schema, ...more };
}

/** Returns the version of a definition with this spec alone. */
export function versionOf(spec: object, more: object = {}): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return version('v1', { storage: true, schema, ...more });
}

/** Definitions in a group of their own. */
export class Definitions {
  readonly group: string = `sem-${randomBytes(4).toString('hex')}.example.com`;
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
  }

  definition(plural: string, kind: string, versions: readonly object[]): object {
    const names = { plural, kind, shortNames: [`${plural[0]}x`] };
    const metadata = { name: `${plural}.${this.group}` };
    return { metadata, spec: { group: this.group, scope: 'Namespaced', names, versions } };
  }

  /** Returns an object with its type, which a real server requires of custom resources. */
  object(kind: string, object: object, versionName = 'v1'): object {
    return { apiVersion: `${this.group}/${versionName}`, kind, ...object };
  }

  /** Creates an object; the plural of its kind ends with an s. */
  create(kind: string, name: string, spec: object, versionName = 'v1'): Promise<Answer> {
    const path = this.objects(`${kind.toLowerCase()}s`, '', versionName);
    return this.#fixture.client.post(path, this.object(kind, { metadata: { name }, spec }, versionName));
  }

  path(plural: string): string {
    return `${DEFINITIONS}/${plural}.${this.group}`;
  }

  /** Creates a definition, and waits until its resource is served. */
  async establish(plural: string, kind: string, versions: readonly object[]): Promise<void> {
    const { client } = this.#fixture;
    ok(await client.post(DEFINITIONS, this.definition(plural, kind, versions)));
    await until(async () => isTrue(ok(await client.get(this.path(plural))).status, 'Established'));
  }

  /** Waits for an answer, for as long as the server has not noticed a definition. */
  async until(path: string, isIt: (answer: Answer) => boolean): Promise<Answer> {
    let answer = await this.#fixture.client.get(path);
    await until(async () => isIt(answer) || isIt((answer = await this.#fixture.client.get(path))));
    return answer;
  }

  objects(plural: string, name = '', versionName = 'v1'): string {
    const path = `/apis/${this.group}/${versionName}/namespaces/${this.#fixture.namespace}/${plural}`;
    return name === '' ? path : `${path}/${name}`;
  }

  async removeAll(...plurals: readonly string[]): Promise<void> {
    for (const plural of plurals) await this.#fixture.client.delete(this.path(plural));
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

export function isTrue(status: unknown, type: string): boolean {
  // A kube-apiserver answers null until its first controller has looked at the definition.
  const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] | null };
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Returns the causes of a 422 as text, sorted: a real server's order varies. */
export function causes(answer: Answer): string[] {
  assert.equal(answer.status, 422, answer.text);
  const { causes: list = [] } = (answer.body.details ?? {}) as { readonly causes?: readonly Cause[] };
  return list.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).sort();
}
