/**
 * Runs a plain transform function on the main thread before storage: parse, call, serialize, extract fields. The shard
 * passes such an object through unchanged, so fields and indexes see only the result.
 */
import { KubeloomError } from '../../base/errors.ts';
import { PROJECTION_NO_ROOM, Projector } from '../../kube/json/projection.ts';
import type { Identity } from '../store/entry.ts';
import type { ObjectBytes } from '../store/entry-owner.ts';
import { Projection, SharedFields } from '../store/projection.ts';

export interface TransformedObject extends ObjectBytes {
  readonly projection: Projection;
}

interface WithMetadata {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
}

const PROJECTION_BYTES_MIN = 4096;

export class MainTransform {
  readonly #transform: (object: unknown) => unknown;
  readonly #projector: Projector;
  readonly #onError: (error: KubeloomError, key: string) => void;
  readonly #sharedFields: SharedFields = new SharedFields();
  #scratch: Buffer = Buffer.alloc(PROJECTION_BYTES_MIN);

  constructor(
    transform: (object: unknown) => unknown,
    fields: readonly string[],
    onError: (error: KubeloomError, key: string) => void,
  ) {
    this.#transform = transform;
    this.#projector = new Projector(fields);
    this.#onError = onError;
  }

  /**
   * Returns the transformed object; after a failure, which it reports, the received one with `isTransformed: false`.
   */
  apply(
    identity: Identity,
    resourceVersion: string,
    object: ObjectBytes,
  ): TransformedObject & {
    readonly isTransformed: boolean;
  } {
    const received = object.bytes.toString('utf8', object.start, object.start + object.length);
    const result = this.#run(identity, resourceVersion, received);
    if (result === undefined) return { ...this.passOn(object), isTransformed: false };
    const bytes = Buffer.from(result);
    const passed = this.passOn({ bytes, start: 0, length: bytes.length });
    return { ...passed, isTransformed: true };
  }

  /** Returns the object unchanged, with its extracted fields. */
  passOn({ bytes, start, length }: ObjectBytes): TransformedObject {
    return { bytes, start, length, projection: this.#project(bytes, start, length) };
  }

  /** Returns the result's JSON; undefined when the function failed or broke the rules. */
  #run(identity: Identity, resourceVersion: string, received: string): string | undefined {
    try {
      const before = parsed(received);
      const uid = before.metadata?.uid;
      const after = this.#transform(before) as WithMetadata | null | undefined;
      const metadata = after?.metadata;
      const isSame =
        metadata?.name === identity.name &&
        (metadata.namespace ?? '') === identity.namespace &&
        metadata.uid === uid &&
        metadata.resourceVersion === resourceVersion;
      if (isSame) return JSON.stringify(after);
      throw new TypeError('it must return an object with the same name, namespace, uid and resourceVersion');
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${identity.key}: transform failed, the object is stored as received: ${reason}`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_TRANSFORM', message, { cause }), identity.key);
      return undefined;
    }
  }

  #project(bytes: Buffer, start: number, length: number): Projection {
    for (;;) {
      const end = this.#projector.project(bytes, start, start + length, this.#scratch, 0);
      if (end !== PROJECTION_NO_ROOM) {
        return Projection.read(this.#scratch, 0, Math.max(0, end), this.#sharedFields, undefined);
      }
      this.#scratch = Buffer.alloc(this.#scratch.length * 2);
    }
  }
}

/** Parses JSON with an error message of its own: that of JSON.parse quotes the text, which may be a Secret. */
function parsed(received: string): WithMetadata {
  try {
    return JSON.parse(received) as WithMetadata;
  } catch {
    throw new TypeError('the server sent an object that is not JSON');
  }
}
