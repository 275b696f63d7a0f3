/** Simple JSON paths of printer columns: `.spec.size`, `.metadata.annotations.a\.b`, `.list[0]`, `.list[?(@.type=="Ready")].status`. */

import { isJsonObject, memberOf, textOf } from '../store/json.ts';
import type { Json } from '../store/json.ts';

type Step = (values: readonly Json[]) => Json[];

const TOKEN =
  /\.?\*|\.((?:[^\\.[\]*]|\\[^])+)|\[\s*(?:'((?:[^'\\]|\\[^])*)'|(\*)|(-?\d*)(?::(-?\d*))?|\?\((.*?)\))\s*\]/y;
const FILTER = /^\s*@((?:\.|\[).*?)\s*(?:(==|!=)\s*(.+?))?\s*$/;

function unescaped(name: string): string {
  return name.replaceAll(/\\([^])/g, '$1');
}

function member(name: string): Step {
  return (values) =>
    values.flatMap((value): Json[] => {
      const found = memberOf(value, name);
      return found === undefined ? [] : [found];
    });
}

/** Selects items as Go slices do: from a place up to a place, negative from the end. */
function slice(from: string, to: string | undefined): Step {
  const end = to === undefined ? Number(from) + 1 : to === '' ? undefined : Number(to);
  const start = from === '' ? 0 : Number(from);
  return (values) =>
    values.flatMap((value) =>
      Array.isArray(value) ? value.slice(start, end === 0 && start < 0 ? undefined : end) : [],
    );
}

function every(values: readonly Json[]): Json[] {
  return values.flatMap((value) => {
    if (Array.isArray(value)) return value;
    return isJsonObject(value) ? Object.values(value).map((each) => each ?? null) : [];
  });
}

/** Selects the items in which a path has a value, equals a literal or differs from it. */
function filter(condition: string): Step | undefined {
  const [, path, operator, literal = ''] = FILTER.exec(condition) ?? [];
  const inner = path === undefined ? undefined : stepsOf(path);
  if (inner === undefined) return undefined;
  const wanted = literal.replace(/^(["'])(.*)\1$/, '$2');
  return (values) =>
    every(values).filter((item) => {
      const [found] = run(inner, item);
      if (operator === undefined || found === undefined) return found !== undefined;
      return (textOf(found) === wanted) === (operator === '==');
    });
}

/** Returns the steps of a path; undefined for a path in another syntax. */
function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  const token = new RegExp(TOKEN);
  while (token.lastIndex < path.length) {
    const match = token.exec(path);
    if (match === null) return undefined;
    const [, name, quoted, , from, to, condition] = match;
    const step =
      condition !== undefined
        ? filter(condition)
        : from !== undefined
          ? slice(from, to)
          : (name ?? quoted) === undefined
            ? every
            : member(unescaped(name ?? quoted ?? ''));
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return steps;
}

function run(steps: readonly Step[], object: Json): Json[] {
  return steps.reduce<Json[]>((values, step) => step(values), [object]);
}

/** Returns the first value at a path; undefined without a value. */
export function firstAt(path: string, object: Json): Json | undefined {
  const steps = stepsOf(path);
  return steps && run(steps, object)[0];
}
