/**
 * Runs a plain transform function on the main thread before storage: parse, call, serialize, extract fields. The shard
 * passes such an object through unchanged, so fields and indexes see only the result.
 */
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { jsonText } from '../../base/json-text.ts';
import { parseJson } from '../../base/parse-json.ts';
import { EXTRACTION_NO_ROOM, Extractor } from '../../kube/json/extraction.ts';
import { changedIdentity } from '../../kube/json/key-spans.ts';
import type { KubeMetadata } from '../../kube/meta-shape.ts';
import type { ObjectBytes } from '../store/entry.ts';
import { ObjectFacts, SharedFields } from '../store/extracted-fields.ts';
import type { Identity } from '../store/extracted-fields.ts';

interface WithMetadata {
  readonly metadata?: KubeMetadata;
}

const EXTRACTED_BYTES_MIN = 4096;

export class MainTransform {
  readonly #transform: (object: unknown) => unknown;
  readonly #extractor: Extractor;
  readonly #onError: (error: KubeloomError, key: string) => void;
  readonly #sharedFields: SharedFields = new SharedFields();
  #scratch: Buffer = Buffer.alloc(EXTRACTED_BYTES_MIN);

  constructor(
    transform: (object: unknown) => unknown,
    fields: readonly string[],
    onError: (error: KubeloomError, key: string) => void,
  ) {
    this.#transform = transform;
    this.#extractor = new Extractor(fields);
    this.#onError = onError;
  }

  /** Returns the JSON of the result; undefined after a failure, which it reports. */
  apply(identity: Identity, resourceVersion: string, object: ObjectBytes): ObjectBytes | undefined {
    const received = object.bytes.toString('utf8', object.start, object.start + object.length);
    const bytes = this.#run(identity, resourceVersion, received);
    return bytes && { bytes, start: 0, length: bytes.length };
  }

  factsOf(identity: Identity, { bytes, start, length }: ObjectBytes): ObjectFacts {
    for (;;) {
      const end = this.#extractor.project(bytes, start, start + length, this.#scratch, 0);
      if (end !== EXTRACTION_NO_ROOM) {
        const array = { start: 0, end: Math.max(0, end) };
        return ObjectFacts.read(identity, this.#scratch, array, this.#sharedFields, undefined);
      }
      this.#scratch = Buffer.alloc(this.#scratch.length * 2);
    }
  }

  #run({ key, name, namespace }: Identity, resourceVersion: string, received: string): Buffer | undefined {
    try {
      const object = parsed(received);
      const uid = object.metadata?.uid;
      // The stored JSON counts, which may differ from the object by a `toJSON`.
      const json = Buffer.from((jsonText(this.#transform(object)) as string | undefined) ?? '');
      if (changedIdentity(json, { name, namespace, uid, resourceVersion }).length === 0) return json;
      throw new TypeError('it must return an object with the same name, namespace, uid and resourceVersion');
    } catch (cause) {
      const reason = messageOf(cause);
      const message = `${key}: transform failed, the object is stored as received: ${reason}`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_TRANSFORM', message, { cause }), key);
      return undefined;
    }
  }
}

function parsed(received: string): WithMetadata {
  const object = parseJson(received);
  if (object === undefined) throw new TypeError('the server sent an object that is not JSON');
  return object as WithMetadata;
}
