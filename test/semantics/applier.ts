/** Shared parts of the tests of server-side apply: requests, and the owners of an object. */
import assert from 'node:assert/strict';
import type { Answer, Body } from './client.ts';
import { ok } from './fixture.ts';
import type { Fixture } from './fixture.ts';

const APPLY = 'application/apply-patch+yaml';

export interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly apiVersion: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsType: string;
  readonly fieldsV1: object;
}

export function entriesOf({ metadata }: Body): readonly Entry[] {
  return (metadata as unknown as { readonly managedFields?: readonly Entry[] }).managedFields ?? [];
}

/** Returns the fields of each manager, as `Apply one` or `Update two status`. */
export function ownersOf(body: Body): Record<string, object> {
  const named = entriesOf(body).map(({ operation, manager, subresource, fieldsV1 }) => {
    return [[operation, manager, ...(subresource === undefined ? [] : [subresource])].join(' '), fieldsV1];
  });
  return Object.fromEntries(named) as Record<string, object>;
}

export function causesOf({ status, body, text }: Answer): readonly object[] {
  assert.equal(status, 409, text);
  assert.equal(body.reason, 'Conflict');
  return (body.details as { readonly causes: readonly object[] }).causes;
}

/** Words for the requests of these tests, on ConfigMaps. */
export class Applier {
  readonly #fixture: Fixture;

  constructor(fixture: Fixture) {
    this.#fixture = fixture;
  }

  send(name: string, manager: string, parts: object, query = ''): Promise<Answer> {
    const { metadata = {}, ...rest } = parts as { readonly metadata?: object };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...rest };
    return this.raw(`${this.#fixture.configMap(name)}?fieldManager=${manager}${query}`, body);
  }

  async apply(name: string, manager: string, parts: object, query = ''): Promise<Body> {
    return ok(await this.send(name, manager, parts, query));
  }

  raw(path: string, body: unknown): Promise<Answer> {
    return this.#fixture.client.request('PATCH', path, { body, contentType: APPLY });
  }
}
