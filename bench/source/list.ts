/** The high-rate source's answers about the state of its collection: a list, a page of one, or initial events. */

import { apiVersionOf } from '../../src/apiserver/resources.ts';
import type { ResourceDefinition } from '../../src/apiserver/resources.ts';
import { makeItems } from './pods.ts';
import type { Block } from './pods.ts';
import { ObjectTemplates } from './object-templates.ts';
import type { TemplateOptions } from './object-templates.ts';

const COMMA = 0x2c;
const CLOSING = Buffer.from('}\n');

export class SourceList {
  readonly #definition: ResourceDefinition;
  readonly #items: readonly Block[];
  readonly #objects: number;
  readonly #revision: number;

  constructor(options: TemplateOptions, revision: number) {
    this.#definition = new ObjectTemplates(options).definition;
    this.#items = makeItems(options);
    this.#objects = options.pods;
    this.#revision = revision;
  }

  /** The list, piece by piece. A limit counts unless the request is for any version (`resourceVersion=0`). */
  *page(query: URLSearchParams): Generator<Buffer> {
    const limit = query.get('resourceVersion') === '0' ? 0 : Number(query.get('limit') ?? 0);
    const from = Number(query.get('continue') ?? 0);
    const to = limit > 0 ? Math.min(this.#objects, from + limit) : this.#objects;
    const isLast = to === this.#objects;
    const metadata = {
      resourceVersion: String(this.#revision),
      ...(isLast ? {} : { continue: String(to), remainingItemCount: this.#objects - to }),
    };
    const { kind, custom } = this.#definition;
    const named = { kind: `${kind}List`, apiVersion: apiVersionOf(this.#definition) };
    if (custom) {
      // Sorted keys: the items precede kind and metadata.
      yield Buffer.from(`{"apiVersion":${JSON.stringify(named.apiVersion)},"items":[`);
      yield* this.#slices(from, to);
      yield Buffer.from(`],"kind":"${named.kind}","metadata":${JSON.stringify(metadata)}}\n`);
    } else {
      yield Buffer.from(`${JSON.stringify({ ...named, metadata }).slice(0, -1)},"items":[`);
      yield* this.#slices(from, to);
      yield Buffer.from(']}\n');
    }
  }

  /** An ADDED event for each object, and then the bookmark that ends them. */
  *initialEvents(hasBookmark: boolean): Generator<Buffer> {
    const { kind, custom } = this.#definition;
    const apiVersion = apiVersionOf(this.#definition);
    const type = custom ? '' : `"kind":"${kind}","apiVersion":"${apiVersion}",`;
    const opening = Buffer.from(`{"type":"ADDED","object":{${type}`);
    for (const { bytes, starts } of this.#items) {
      const pieces: Buffer[] = [];
      for (let record = 0; record + 1 < starts.length; record++) {
        const item = withoutComma(bytes.subarray((starts[record] ?? 0) + 1, starts[record + 1]));
        pieces.push(opening, item, CLOSING);
      }
      yield Buffer.concat(pieces);
    }
    if (!hasBookmark) return;
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#revision), annotations };
    yield Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } })}\n`);
  }

  /** The bytes of items `from` to `to`, separated by commas. */
  *#slices(from: number, to: number): Generator<Buffer> {
    let first = 0;
    for (const { bytes, starts } of this.#items) {
      const end = first + starts.length - 1;
      if (end > from && first < to) {
        const slice = bytes.subarray(starts[Math.max(0, from - first)], starts[Math.min(end, to) - first]);
        yield end >= to ? withoutComma(slice) : slice;
      }
      first = end;
    }
  }
}

function withoutComma(bytes: Buffer): Buffer {
  return bytes.at(-1) === COMMA ? bytes.subarray(0, -1) : bytes;
}
