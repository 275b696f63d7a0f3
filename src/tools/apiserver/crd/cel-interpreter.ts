/**
 * Evaluates the syntax tree of an expression (cel-js is the parser). Each step costs, so that an expression that would
 * run for long ends with the error of a real server.
 */

import type { ASTNode } from '@marcbachmann/cel-js';
import { NAMESPACES, added, called, isFunction } from './cel-functions.ts';
import {
  CelDuration,
  CelError,
  CelOptional,
  CelType,
  compared,
  int,
  isEqual,
  noOverload,
} from './cel-values.ts';
import type { CelValue } from './cel-values.ts';

/** Variables by name. */
export type Scope = ReadonlyMap<string, CelValue>;

/** The cost limit of one expression is reached: no other part of the expression decides the result. */
export class CostExceeded extends CelError {}

/** True for an error of CEL that another part of the expression may make irrelevant. */
function isFailure(error: unknown): boolean {
  return error instanceof CelError && !(error instanceof CostExceeded);
}

const TYPE_NAMES =
  'int uint double bool string bytes list map null_type type optional_type google.protobuf.Timestamp google.protobuf.Duration kubernetes.Quantity kubernetes.URL kubernetes.Semver net.IP net.CIDR';
const TYPES: ReadonlyMap<string, CelType> = new Map(
  TYPE_NAMES.split(' ').map((name) => [name, new CelType(name)]),
);

/** Macros by name, with the numbers of their arguments. Variables precede the expressions. */
const MACROS: Readonly<Record<string, readonly number[]>> = {
  all: [2, 3],
  exists: [2, 3],
  exists_one: [2, 3],
  existsOne: [2, 3],
  filter: [2],
  map: [2, 3],
  transformList: [3, 4],
  transformMap: [3, 4],
  transformMapEntry: [3, 4],
  optMap: [2],
  optFlatMap: [2],
  sortBy: [2],
};
const TWO_VARIABLES = /^transform/;

function isMacro(name: string, argumentCount: number): boolean {
  return Object.hasOwn(MACROS, name) && MACROS[name]?.includes(argumentCount) === true;
}

/** Variables of a macro, and the number of arguments that name them. */
function variablesOf(name: string, given: readonly ASTNode[]): string[] {
  const isTwo = TWO_VARIABLES.test(name) || (given.length === 3 && name !== 'map');
  return given.slice(0, isTwo ? 2 : 1).map(({ op, args }) => {
    if (op !== 'id') throw new CelError('argument must be a simple name');
    return args;
  });
}

function qualifiedName(node: ASTNode): string | undefined {
  if (node.op === 'id') return node.args;
  if (node.op !== '.') return undefined;
  const receiver = qualifiedName(node.args[0]);
  return receiver === undefined ? undefined : `${receiver}.${node.args[1]}`;
}

/** Returns the name of a function that is called on a namespace instead of a value. */
function spaceOf(receiver: ASTNode, scope: { has(name: string): boolean }): string | undefined {
  return receiver.op === 'id' && NAMESPACES.has(receiver.args) && !scope.has(receiver.args)
    ? receiver.args
    : undefined;
}

/** Returns why an expression cannot be evaluated with these variables; undefined for a valid expression. */
export function referenceError(node: ASTNode, variables: ReadonlySet<string>): string | undefined {
  const undeclared = (name: string, at: number): string => {
    const before = node.input.slice(0, at).split('\n');
    const [line, column] = [before.length, Array.from(before.at(-1) ?? '').length];
    const shown = node.input.split('\n')[line - 1] ?? '';
    return `ERROR: <input>:${line}:${column + 1}: undeclared reference to '${name}' (in container '')\n | ${shown}\n | ${'.'.repeat(column)}^`;
  };
  const first = (nodes: readonly ASTNode[], known = variables): string | undefined => {
    for (const each of nodes) {
      const why = referenceError(each, known);
      if (why !== undefined) return why;
    }
    return undefined;
  };
  switch (node.op) {
    case 'value':
      return undefined;
    case 'id':
      return variables.has(node.args) || TYPES.has(node.args) ? undefined : undeclared(node.args, node.start);
    case '.':
    case '.?':
      return TYPES.has(qualifiedName(node) ?? '') ? undefined : referenceError(node.args[0], variables);
    case 'call': {
      const [name, given] = node.args;
      if (name !== 'has' && !isFunction(name, given.length))
        return undeclared(name, node.start + name.length);
      return first(given);
    }
    case 'rcall': {
      const [name, receiver, given] = node.args;
      const space = spaceOf(receiver, variables);
      const at = receiver.end;
      if (space !== undefined)
        return isFunction(`${space}.${name}`, given.length) ? first(given) : undeclared(name, at);
      if (isMacro(name, given.length)) {
        const names = variablesOf(name, given);
        return (
          referenceError(receiver, variables) ??
          first(given.slice(names.length), new Set([...variables, ...names]))
        );
      }
      return isFunction(`.${name}`, given.length) ? first([receiver, ...given]) : undeclared(name, at);
    }
    case 'map':
      return first(node.args.flat());
    case 'list':
    case '?:':
      return first(node.args);
    case '!_':
    case '-_':
      return referenceError(node.args, variables);
    default:
      return first(node.args);
  }
}

/** Characters that cost as much as a step. */
const CHARACTERS_PER_STEP = 10;

/** One evaluation of an expression. */
export class Evaluation {
  readonly #costMax: number;
  cost = 0;

  constructor(costMax: number) {
    this.#costMax = costMax;
  }

  /** @throws CelError */
  run(node: ASTNode, scope: Scope): CelValue {
    this.#spend(1);
    switch (node.op) {
      case 'value':
        return typeof node.args === 'object' && node.args !== null && !(node.args instanceof Uint8Array)
          ? BigInt(String(node.args))
          : node.args;
      case 'id':
        return this.#variable(node.args, scope);
      case '.':
        return scope.has(rootOf(node))
          ? this.#member(node, scope)
          : (TYPES.get(qualifiedName(node) ?? '') ?? this.#member(node, scope));
      case '.?':
        return this.#optionalMember(this.run(node.args[0], scope), node.args[1]);
      case '[]':
        return this.#indexed(this.run(node.args[0], scope), this.run(node.args[1], scope));
      case '[?]':
        return this.#optionalMember(this.run(node.args[0], scope), this.run(node.args[1], scope));
      case 'list':
        return node.args.map((item) => this.run(item, scope));
      case 'map':
        return new Map(node.args.map(([key, value]) => [this.run(key, scope), this.run(value, scope)]));
      case 'call':
        return this.#call(node.args[0], node.args[1], scope);
      case 'rcall':
        return this.#memberCall(node.args[0], node.args[1], node.args[2], scope);
      case '?:':
        return this.run(this.#isTrue(node.args[0], scope) ? node.args[1] : node.args[2], scope);
      case '||':
        return this.#either(node.args, scope, true);
      case '&&':
        return this.#either(node.args, scope, false);
      case '!_':
        return !this.#isTrue(node.args, scope);
      case '-_':
        return this.#negative(this.run(node.args, scope));
      default:
        return this.#operator(node.op, this.run(node.args[0], scope), this.run(node.args[1], scope));
    }
  }

  #spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#costMax) throw new CostExceeded('operation cancelled: actual cost limit exceeded');
  }

  #variable(name: string, scope: Scope): CelValue {
    if (scope.has(name)) return scope.get(name);
    const type = TYPES.get(name);
    if (type === undefined) throw new CelError(`no such attribute(s): ${name}`);
    return type;
  }

  #member(node: ASTNode & { op: '.' }, scope: Scope): CelValue {
    const [receiver, name] = node.args;
    const value = this.run(receiver, scope);
    return value instanceof CelOptional ? this.#optionalMember(value, name) : this.#indexed(value, name);
  }

  #indexed(value: CelValue, key: CelValue): CelValue {
    if (value instanceof CelOptional) return this.#optionalMember(value, key);
    const found = this.#found(value, key);
    if (found !== undefined) return found;
    throw new CelError(
      Array.isArray(value) ? `index out of bounds: ${String(key)}` : `no such key: ${String(key)}`,
    );
  }

  /** Returns a member or an item; undefined if it is absent. */
  #found(value: CelValue, key: CelValue): CelValue {
    if (value instanceof Map) return value.get(Number.isInteger(key) ? BigInt(Number(key)) : key);
    if (Array.isArray(value) && (typeof key === 'bigint' || typeof key === 'number'))
      return value[Number(key)];
    throw noOverload();
  }

  #optionalMember(value: CelValue, key: CelValue): CelOptional {
    const [holder] = value instanceof CelOptional ? value.values : [value];
    if (holder === undefined) return CelOptional.none;
    const found = this.#found(holder, key);
    return found === undefined ? CelOptional.none : new CelOptional(found);
  }

  #isTrue(node: ASTNode, scope: Scope): boolean {
    const value = this.run(node, scope);
    if (typeof value === 'boolean') return value;
    throw noOverload();
  }

  /** One side may decide the result although the other fails. */
  #either([one, other]: readonly [ASTNode, ASTNode], scope: Scope, decisive: boolean): boolean {
    try {
      if (this.#isTrue(one, scope) === decisive) return decisive;
    } catch (error) {
      if (!isFailure(error) || this.#isTrue(other, scope) !== decisive) throw error;
      return decisive;
    }
    return this.#isTrue(other, scope);
  }

  #negative(value: CelValue): CelValue {
    if (typeof value === 'bigint') return int(-value);
    if (typeof value === 'number') return -value;
    throw noOverload();
  }

  #operator(op: string, one: CelValue, other: CelValue): CelValue {
    this.#spend(sizeOf(one) + sizeOf(other));
    switch (op) {
      case '==':
        return isEqual(one, other);
      case '!=':
        return !isEqual(one, other);
      case '<':
        return compared(one, other) < 0;
      case '<=':
        return compared(one, other) <= 0;
      case '>':
        return compared(one, other) > 0;
      case '>=':
        return compared(one, other) >= 0;
      case 'in':
        if (other instanceof Map) return other.has(one);
        if (Array.isArray(other)) return other.some((item) => isEqual(one, item));
        throw noOverload();
      case '+':
        return added(one, other);
      default:
        return arithmetic(op, one, other);
    }
  }

  #call(name: string, given: readonly ASTNode[], scope: Scope): CelValue {
    const [first] = given;
    if (name !== 'has' || first === undefined)
      return this.#invoked(
        name,
        given.map((each) => this.run(each, scope)),
      );
    if (first.op !== '.' && first.op !== '.?') throw new CelError('invalid argument to has() macro');
    const holder = this.run(first.args[0], scope);
    const [value] = holder instanceof CelOptional ? holder.values : [holder];
    return value !== undefined && this.#found(value, first.args[1]) !== undefined;
  }

  #invoked(name: string, values: readonly CelValue[]): CelValue {
    for (const value of values) this.#spend(sizeOf(value));
    return called(name, values);
  }

  #memberCall(name: string, receiver: ASTNode, given: readonly ASTNode[], scope: Scope): CelValue {
    const space = spaceOf(receiver, scope);
    if (space !== undefined)
      return this.#invoked(
        `${space}.${name}`,
        given.map((each) => this.run(each, scope)),
      );
    const value = this.run(receiver, scope);
    if (isMacro(name, given.length)) return this.#macro(name, value, given, scope);
    return this.#invoked(`.${name}`, [value, ...given.map((each) => this.run(each, scope))]);
  }

  #macro(name: string, range: CelValue, given: readonly ASTNode[], scope: Scope): CelValue {
    const variables = variablesOf(name, given);
    const [condition, result] = given.slice(variables.length);
    if (condition === undefined) throw noOverload();
    const inside = new Map(scope);
    const at = (...values: readonly CelValue[]): Scope => {
      this.#spend(1);
      for (const [index, variable] of variables.entries()) inside.set(variable, values[index]);
      return inside;
    };
    if (range instanceof CelOptional) {
      if (range.values.length === 0) return range;
      const value = this.run(condition, at(range.values[0]));
      return name === 'optMap' ? new CelOptional(value) : value;
    }
    // One variable is an item or a key; two are an index or a key with the value.
    const entries: readonly (readonly CelValue[])[] =
      range instanceof Map
        ? [...range]
        : Array.isArray(range)
          ? variables.length === 1
            ? range.map((item: CelValue) => [item])
            : range.map((item: CelValue, index) => [BigInt(index), item])
          : [];
    if (!(range instanceof Map) && !Array.isArray(range)) throw noOverload();
    const kept = (entry: readonly CelValue[]): boolean => this.#isTrue(condition, at(...entry));
    switch (name) {
      case 'all':
        return this.#quantified(entries, kept, false);
      case 'exists':
        return this.#quantified(entries, kept, true);
      case 'exists_one':
      case 'existsOne':
        return entries.filter(kept).length === 1;
      case 'filter':
        return entries.filter(kept).map(([item]) => item);
      case 'sortBy': {
        const keyed = entries.map((entry) => [this.run(condition, at(...entry)), entry[0]] as const);
        return keyed.toSorted(([one], [other]) => compared(one, other)).map(([, item]) => item);
      }
      default: {
        const chosen = result === undefined ? entries : entries.filter(kept);
        const made = chosen.map((entry) => [entry[0], this.run(result ?? condition, at(...entry))] as const);
        if (name === 'transformMap') return new Map(made);
        const values = made.map(([, value]) => value);
        return name === 'transformMapEntry'
          ? new Map(values.flatMap((value) => [...(value as Map<CelValue, CelValue>)]))
          : values;
      }
    }
  }

  /** An item may decide the result although others fail. */
  #quantified(
    entries: readonly (readonly CelValue[])[],
    test: (entry: readonly CelValue[]) => boolean,
    decisive: boolean,
  ): boolean {
    let failure: unknown;
    for (const entry of entries) {
      try {
        if (test(entry) === decisive) return decisive;
      } catch (error) {
        if (!isFailure(error)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decisive;
  }
}

function rootOf(node: ASTNode): string {
  return node.op === '.' ? rootOf(node.args[0]) : node.op === 'id' ? node.args : '';
}

/** The cost of a value that a function reads. */
function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return Math.ceil(value.length / CHARACTERS_PER_STEP);
  return Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
}

function arithmetic(op: string, one: CelValue, other: CelValue): CelValue {
  if (op === '-' && one instanceof Date && other instanceof Date)
    return new CelDuration(BigInt(one.getTime() - other.getTime()) * 1_000_000n);
  if (op === '-' && other instanceof CelDuration) return added(one, new CelDuration(-other.nanos));
  if (typeof one === 'number' && typeof other === 'number') {
    if (op === '-') return one - other;
    if (op === '*') return one * other;
    if (op === '/') return one / other;
  }
  if (typeof one !== 'bigint' || typeof other !== 'bigint') throw noOverload();
  if (op === '-') return int(one - other);
  if (op === '*') return int(one * other);
  if (other === 0n) throw new CelError(op === '/' ? 'division by zero' : 'modulus by zero');
  return int(op === '/' ? one / other : one % other);
}
