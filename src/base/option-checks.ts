/**
 * Options as tables: each option has a check. Everything else is refused, with the closest known name. A
 * table is typed by the options that it checks, so the compiler finds an option without a check.
 */
import type { Clock } from './clock.ts';
import { KubeloomError } from './errors.ts';
import { disown } from './thenable.ts';

export interface OptionCheck {
  /** Throws ERR_KUBELOOM_OPTION, or another code, for a wrong value. Never receives undefined. */
  (name: string, value: unknown): void;
  /** Names of the options in a group. */
  readonly members?: readonly string[];
}

export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** The largest number of edits in a typing error. */
const EDITS_MAX = 2;
/** Text that messages quote completely. */
const SHOWN_CHARACTERS_MAX = 100;

/**
 * Checks all options at once. An option that is undefined counts as absent.
 *
 * @param what names the options in messages: `options of an informer`
 * @throws ERR_KUBELOOM_OPTION for a value that is no object, an unknown member, or a value that the check refuses
 */
export function checkOptions<Options>(
  what: string,
  options: unknown,
  checks: OptionChecks<Options>,
  prefix = '',
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    invalidOption(what, options, 'an object');
  }
  // Without members of its own it would count as no options.
  if (options instanceof AbortSignal)
    throw new KubeloomError('ERR_KUBELOOM_OPTION', `${what} are an AbortSignal: pass { signal }`);
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(checks, name)) throw unknownOption(what, name, checks, prefix);
  }
  for (const [name, check] of Object.entries<OptionCheck>(checks)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) check(`${prefix}${name}`, value);
  }
}

function unknownOption(
  what: string,
  name: string,
  checks: Readonly<Record<string, OptionCheck>>,
  prefix: string,
): KubeloomError {
  const nearby = nearest(name, Object.keys(checks));
  const paths = nearby === undefined ? pathsInGroups(name, checks) : [nearby];
  const isInGroup = prefix.endsWith('.');
  const named = (path: string): string => (isInGroup ? `${prefix}${path}` : path);
  const advice =
    paths.length > 0
      ? `did you mean ${paths.map(named).join(' or ')}?`
      : `known are ${pathsOf(checks).map(named).join(', ')}`;
  const unknown = isInGroup ? `there is no option ${named(name)}` : `${what} have no ${JSON.stringify(name)}`;
  return new KubeloomError('ERR_KUBELOOM_OPTION', `${unknown}: ${advice}`);
}

/** Returns the names of all options; the options of a group as `backoff.maxMs`. */
function pathsOf(checks: Readonly<Record<string, OptionCheck>>): string[] {
  return Object.entries(checks).flatMap(
    ([name, { members }]) => members?.map((member) => `${name}.${member}`) ?? [name],
  );
}

/** Returns the options of groups whose words all occur in a name: `backoff.maxMs` for `maxMs` and `maxBackoffMs`. */
function pathsInGroups(wrong: string, checks: Readonly<Record<string, OptionCheck>>): string[] {
  return pathsOf(checks).filter((path) => {
    const [, member] = path.split('.');
    return member !== undefined && new RegExp(member.replaceAll(/(?=[A-Z])/g, '.*'), 'i').test(wrong);
  });
}

/** Returns the name that differs least; undefined when all of them differ by more than a typing error or an ending. */
export function nearest(wrong: string, names: readonly string[]): string | undefined {
  const lower = wrong.toLowerCase();
  const ranked = names
    .map((name) => ({ name, edits: editsBetween(lower, name.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  // In a short name two edits leave nothing of the original.
  if (best && best.edits <= Math.min(EDITS_MAX, Math.floor(lower.length / 2))) return best.name;
  return names.find((name) => lower !== '' && name.toLowerCase().startsWith(lower));
}

/** Returns how many characters must be inserted, removed or replaced: Levenshtein's distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionCheck {
  return (name, value) => checkInteger(name, value, min, max);
}

export function number(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionCheck {
  return (name, value) => checkNumber(name, value, min, max);
}

export function oneOf(...choices: readonly string[]): OptionCheck {
  const quoted = choices.map((choice) => `'${choice}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return (name, value) => {
    if (!choices.includes(value as string)) invalidOption(name, value, expected);
  };
}

export function text(name: string, value: unknown): void {
  if (typeof value !== 'string') invalidOption(name, value, 'text');
}

export function flag(name: string, value: unknown): void {
  if (typeof value !== 'boolean') invalidOption(name, value, 'true or false');
}

export function callback(name: string, value: unknown): void {
  if (typeof value !== 'function') invalidOption(name, value, 'a function');
}

export function anObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    invalidOption(name, value, 'an object');
}

export function anArray(name: string, value: unknown): void {
  if (!Array.isArray(value)) invalidOption(name, value, 'an array');
}

export function anArrayOf(check: OptionCheck): OptionCheck {
  return (name, value) => {
    anArray(name, value);
    for (const [index, item] of (value as readonly unknown[]).entries()) check(`${name}[${index}]`, item);
  };
}

/** Checks for an object with these methods. */
export function having(expected: string, ...methods: readonly string[]): OptionCheck {
  return (name, value) => {
    const isMissing = (method: string): boolean => typeof Reflect.get(value as object, method) !== 'function';
    if (typeof value !== 'object' || value === null || methods.some(isMissing))
      invalidOption(name, value, expected);
  };
}

export const clock: OptionCheck = having(
  'a clock with now() and schedule()',
  ...(['now', 'schedule'] satisfies (keyof Clock)[]),
);

export const aRateLimiter: OptionCheck = having(
  'a rate limiter with when(), forget() and numRequeues()',
  'when',
  'forget',
  'numRequeues',
);

export const signal: OptionCheck = having('an AbortSignal', 'addEventListener', 'throwIfAborted');

/** Checks options within an option; messages name them `backoff.maxMs`. */
export function nested<Options>(checks: OptionChecks<Options>): OptionCheck {
  const check = (name: string, value: unknown): void => checkOptions(name, value, checks, `${name}.`);
  return Object.assign(check, { members: Object.keys(checks) });
}

/** Checks for an absolute URL, from which a module is loaded. */
export function moduleUrl(name: string, value: unknown): void {
  if (typeof value === 'string' && URL.canParse(value)) return;
  invalidOption(name, value, "an absolute URL: new URL('./module.js', import.meta.url).href");
}

/** Accepts every value: another place checks it. */
export function anything(): void {}

/** Adds the name of the option to a check's error, and keeps the code. */
export function naming(check: (value: string) => unknown): OptionCheck {
  return (name, value) => {
    text(name, value);
    try {
      check(value as string);
    } catch (cause) {
      if (!(cause instanceof KubeloomError)) throw cause;
      throw new KubeloomError(cause.code, `${name}: ${cause.message}`, { cause });
    }
  };
}

export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    invalidOption(name, value, `an integer from ${min} to ${max}`);
  }
}

export function checkNumber(name: string, value: unknown, min: number, max: number): void {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    invalidOption(name, value, `a number from ${min} to ${max}`);
  }
}

export function checkFinite(name: string, value: unknown): void {
  if (!Number.isFinite(value)) invalidOption(name, value, 'a finite number');
}

/** Also takes the rejection of a promise that is refused. */
export function invalidOption(name: string, value: unknown, expected: string): never {
  disown(value);
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${name} must be ${expected}, got ${shown(value)}`);
}

/** Returns a value for a message. Objects are not quoted: they may hold credentials. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'bigint') return `${value}n`;
  const quoted = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return quoted.length > SHOWN_CHARACTERS_MAX ? `${quoted.slice(0, SHOWN_CHARACTERS_MAX)}…` : quoted;
}
