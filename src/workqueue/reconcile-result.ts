/**
 * The result of a reconciliation, checked like an option: on the thread that reconciles, because a result of another shape
 * may not reach the main thread. A shape that is let through would be a loop without a limit.
 */
import { KubeloomError } from '../base/errors.ts';
import { nearest, shown } from '../base/option-checks.ts';

/**
 * Result of a reconciliation: done, or reconcile again after a while. As in controller-runtime, a delay of 0 and
 * less asks for no repetition, and neither does an empty object.
 */
export type ReconcileResult = void | { readonly requeueAfterMs?: number | undefined };

const MEMBER = 'requeueAfterMs';
/** Members that messages name. */
const NAMES_MAX = 5;

/**
 * Returns the delay after which the key comes again; undefined when it is done.
 *
 * @throws ERR_KUBELOOM_RESULT for anything but a `ReconcileResult`
 */
export function requeueDelayMs(result: unknown): number | undefined {
  if (result === undefined) return undefined;
  if (typeof result !== 'object' || result === null) throw wrongResult(shown(result), adviceFor(result));
  const names = Object.keys(result);
  // A Date, an Error or an answer of fetch lacks own members as well.
  const isEmpty = names.length === 0 && isPlain(result);
  if (!isEmpty && (names.length !== 1 || names[0] !== MEMBER))
    throw wrongResult(described(result, names), adviceFor(result, names));
  const delayMs: unknown = Reflect.get(result, MEMBER);
  if (delayMs === undefined) return undefined;
  if (typeof delayMs !== 'number' || !Number.isFinite(delayMs)) {
    const message = `the reconcile function returned { ${MEMBER}: ${shown(delayMs)} }: the delay must be a finite number of milliseconds`;
    throw new KubeloomError('ERR_KUBELOOM_RESULT', message);
  }
  return delayMs > 0 ? delayMs : undefined;
}

/** Objects of other realms count as well, so the prototype is not compared with this realm's. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (!Array.isArray(value) && Object.getPrototypeOf(prototype) === null);
}

/** Members are named and not quoted: they may hold credentials. */
function described(result: object, names: readonly string[]): string {
  if (result instanceof Error) return `an error (${result.name})`;
  if (Array.isArray(result)) return 'an array';
  if (names.length === 0) return `an object of ${result.constructor?.name || 'a class'}`;
  const first = names.slice(0, NAMES_MAX).map((name) => JSON.stringify(name));
  return `an object with ${first.join(', ')}${names.length > NAMES_MAX ? ', …' : ''}`;
}

function adviceFor(result: unknown, names: readonly string[] = []): string {
  if (result instanceof Error) return 'throw the error, and the key comes again';
  if (typeof result === 'number') return `did you mean { ${MEMBER}: ${result} }?`;
  if (result === true || names.includes('requeue')) return 'throw an error, and the key comes again';
  if (names.includes('metadata') || names.includes('status'))
    return 'did you mean `await` and not `return` before a request, or braces around the body of the function?';
  const isMeant = names.some((name) => nearest(name, [MEMBER]) !== undefined);
  if (isMeant && !names.includes(MEMBER)) return `did you mean ${MEMBER}?`;
  return 'did you mean to return nothing?';
}

function wrongResult(what: string, advice: string): KubeloomError {
  const message = `the reconcile function returned ${what}, which is neither undefined nor { ${MEMBER} }: ${advice}`;
  return new KubeloomError('ERR_KUBELOOM_RESULT', message);
}
