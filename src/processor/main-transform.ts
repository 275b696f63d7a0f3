/**
 * A plain transform function, run on the main thread before storage: parse, call, serialise, project. The
 * shard passed the object through untouched, so fields and indexes see only the result.
 */
import { KubeloomError } from '../errors.ts';
import { Projector } from '../json/projection.ts';
import type { Identity } from '../store/entry.ts';
import { Projection } from '../store/projection.ts';
import type { ObjectBytes } from './informer-merge.ts';

export interface TransformedObject {
  readonly bytes: Buffer;
  readonly start: number;
  readonly length: number;
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

  /** The transformed object, or the received one with `isTransformed: false` after reporting why. */
  apply(
    identity: Identity,
    resourceVersion: string,
    object: ObjectBytes,
  ): TransformedObject & {
    readonly isTransformed: boolean;
  } {
    const received = object.bytes.toString('utf8', object.start, object.start + object.length);
    const result = this.#run(identity, resourceVersion, received);
    const bytes = Buffer.from(result ?? received);
    const projection = new Projection(this.#project(bytes));
    return { bytes, start: 0, length: bytes.length, projection, isTransformed: result !== undefined };
  }

  /** The result's JSON; undefined when the function failed or broke the rules. */
  #run(identity: Identity, resourceVersion: string, received: string): string | undefined {
    try {
      const before = JSON.parse(received) as WithMetadata;
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
      const message = `transform failed for ${identity.key}, which is stored as received: ${reason}`;
      this.#onError(new KubeloomError('ERR_KUBELOOM_TRANSFORM', message, { cause }), identity.key);
      return undefined;
    }
  }

  #project(bytes: Buffer): string {
    for (;;) {
      const end = this.#projector.project(bytes, 0, bytes.length, this.#scratch, 0);
      if (end >= 0) return this.#scratch.toString('latin1', 0, end);
      if (end !== TOO_SMALL) return '';
      this.#scratch = Buffer.alloc(this.#scratch.length * 2);
    }
  }
}

const TOO_SMALL = -1;
