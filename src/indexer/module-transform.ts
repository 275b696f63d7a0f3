/**
 * A transform that a module exports: parse, call, check, serialise. It may not change key, uid and resourceVersion,
 * because every later stage relies on those that the reflector read.
 */
import { ByteScratch } from './byte-scratch.ts';
import type { ModuleFunction } from './modules.ts';
import type { StagedObject } from './staged-object.ts';

export type TransformResult = 'done' | 'failed' | 'malformed';

const CODE = 'ERR_KUBELOOM_TRANSFORM';
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

export class ModuleTransform {
  readonly #transform: ModuleFunction;
  readonly #scratch: ByteScratch = new ByteScratch();

  constructor(transform: ModuleFunction) {
    this.#transform = transform;
  }

  /** Calls the function once. Only 'done' changes the object's bytes; 'failed' adds a warning. */
  run(object: StagedObject): TransformResult {
    let received: unknown;
    try {
      received = JSON.parse(object.bytes.toString('utf8', object.start, object.end));
    } catch {
      return 'malformed';
    }
    const scratch = this.#scratch;
    scratch.reset();
    try {
      scratch.appendText(this.#resultOf(received));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      object.warnings.push({
        code: CODE,
        message: `transform failed, the object is stored as received: ${reason}`,
      });
      return 'failed';
    }
    object.bytes = scratch.bytes;
    object.start = 0;
    object.end = scratch.end;
    object.isInline = true;
    return 'done';
  }

  #resultOf(received: unknown): string {
    // Read before the call, because the function may change the object in place.
    const before = identityOf(received);
    const result = this.#transform(received);
    if (typeof result !== 'object' || result === null || Array.isArray(result)) {
      throw new TypeError(`it returned ${result === null ? 'null' : typeof result}, not an object`);
    }
    if ('then' in result && typeof result.then === 'function') {
      throw new TypeError('it returned a promise: transforms are synchronous');
    }
    const after = identityOf(result);
    const changed = IDENTITY.filter((_, index) => before[index] !== after[index]);
    if (changed.length > 0) throw new TypeError(`it changed metadata.${changed.join(' and metadata.')}`);
    return JSON.stringify(result);
  }
}

/** Returns name, namespace, uid and resourceVersion. */
function identityOf(object: unknown): readonly unknown[] {
  const { metadata } = object as { readonly metadata?: Readonly<Record<string, unknown>> };
  return IDENTITY.map((key) => metadata?.[key]);
}
