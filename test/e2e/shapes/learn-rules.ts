/**
 * The rules of a server, learnt from answers: the words for absent and wrong values, the values that the server assigns, and the
 * fields that updates may not change. A rule is kept if it explains every answer about the node. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { duplicate, text as memberText } from '../../../src/tools/apiserver/store/causes.ts';
import { isJsonObject } from '../../../src/tools/apiserver/store/json.ts';
import type { Json, JsonObject } from '../../../src/tools/apiserver/store/json.ts';
import { frozenErrors } from '../../../src/tools/apiserver/shapes/frozen.ts';
import { isUnset, refusedFor, testOf } from '../../../src/tools/apiserver/shapes/refusals.ts';
import type { Assigned, Frozen, ShapeNode } from '../../../src/tools/apiserver/shapes/shapes.ts';
import { shapeAt } from './places.ts';
import type { Place, Shapes } from './places.ts';

export interface Cause {
  readonly field?: string;
  readonly message?: string;
}

/** The answer to a creation or an update in which a place has another value. */
export interface Answer {
  readonly place: Place;
  /** Value in the place of the place's value; undefined if the place is left out. */
  readonly value: Json | undefined;
  readonly sent: Json;
  readonly status: number;
  readonly causes: readonly Cause[];
  /** Stored object, if it is accepted. */
  readonly stored: Json;
}

const INVALID = /^(?:Invalid|Unsupported) value: /;

/** Returns the words of a refusal; undefined for a refusal that says more than the words and the value. */
function wordsOf(message: string, field: string, value: Json): string | undefined {
  if (!INVALID.test(message)) return undefined;
  const shown = refusedFor('', field, value).body.replace(INVALID, '');
  const rest = message.replace(INVALID, '');
  const words = rest.startsWith(shown) ? rest.slice(shown.length) : undefined;
  return words !== undefined && refusedFor(words, field, value).body === message ? words : undefined;
}

/** Returns the messages about exactly this place. */
function messagesOf({ place, causes }: Answer): string[] {
  return causes.filter(({ field }) => field === place.field).map(({ message = '' }) => message);
}

function grouped(answers: readonly Answer[]): Map<ShapeNode, Answer[]> {
  const groups = new Map<ShapeNode, Answer[]>();
  for (const answer of answers) {
    const { node } = answer.place;
    groups.set(node, [...(groups.get(node) ?? []), answer]);
  }
  return groups;
}

/** A struct of a body, before and after the server has stored the object. */
interface Pair {
  readonly sent: JsonObject;
  readonly stored: JsonObject;
  /** True for the struct in `spec` of the object. */
  readonly isTop: boolean;
}

type Pairs = ReadonlyMap<ShapeNode, Pair[]>;

/** Returns the structs of accepted bodies by their shapes. */
function pairsOf(shapes: Shapes, answers: readonly (Answer & { readonly root: ShapeNode })[]): Pairs {
  const pairs = new Map<ShapeNode, Pair[]>();
  const add = (node: ShapeNode, sent: Json, stored: Json, depth: number): void => {
    const { properties, items, additionalProperties } = shapeAt(shapes, node);
    if (Array.isArray(sent) && Array.isArray(stored)) {
      if (items === undefined || sent.length !== stored.length) return;
      for (const [index, item] of sent.entries()) add(items, item, stored[index] ?? null, depth + 1);
    }
    if (!isJsonObject(sent) || !isJsonObject(stored)) return;
    const shape = shapeAt(shapes, node);
    if (properties !== undefined)
      pairs.set(shape, [...(pairs.get(shape) ?? []), { sent, stored, isTop: depth === 1 }]);
    for (const [name, member = null] of Object.entries(sent)) {
      const child = properties?.[name] ?? additionalProperties;
      if (typeof child === 'object') add(child, member, stored[name] ?? null, depth + 1);
    }
  };
  for (const { sent, stored, status, root } of answers) if (status === 201) add(root, sent, stored, 0);
  return pairs;
}

/** Adds the words for wrong values to a node. @param about answers about the node */
function learnRefused(node: ShapeNode, about: readonly Answer[]): void {
  const present = about.filter(({ value }) => value !== undefined && !isUnset(value, node));
  const said = present.map((answer) => ({
    value: answer.value ?? null,
    words: messagesOf(answer).map((message) => wordsOf(message, answer.place.field, answer.value ?? null)),
  }));
  const known = new Set(said.flatMap(({ words }) => words).filter((words) => words !== undefined));
  const refused = [...known].filter((words) => {
    const test = testOf(words);
    const isTrue = said.every((each) => each.words.includes(words) === (test?.(each.value) === false));
    return test !== undefined && isTrue && about.every(({ place }) => test(place.value));
  });
  if (refused.length > 0) node.refused = refused;
}

/** Adds the member by which the items of a list differ, from answers about lists with the last item twice. */
function learnUnique(node: ShapeNode, about: readonly Answer[]): void {
  const keys = about.map(({ place, value, causes }) => {
    if (!Array.isArray(value) || !Array.isArray(place.value) || value.length <= place.value.length)
      return undefined;
    const item = value.at(-1) ?? null;
    const names = isJsonObject(item) ? Object.keys(item) : [''];
    return names.filter((key) => {
      const { field, body } = duplicate(
        `${place.field}[${value.length - 1}]${key === '' ? '' : `.${key}`}`,
        isJsonObject(item) ? item[key] : item,
      );
      return causes.some((cause) => cause.field === field && cause.message === body);
    });
  });
  const known = keys.filter((each) => each !== undefined);
  const [first = []] = known;
  const unique = first.find((key) => known.every((each) => each.includes(key)));
  if (unique !== undefined) node.unique = unique;
}

const ABSENT = /^(?:Required|Invalid|Unsupported) value/;

/** Adds the words for the absence of a member, if no struct without the member is accepted. */
function learnAbsent(name: string, node: ShapeNode, about: readonly Answer[], pairs: readonly Pair[]): void {
  const absences = about
    .filter(({ value }) => isUnset(value, node))
    .map((answer) => messagesOf(answer).filter((message) => ABSENT.test(message)));
  const [first = []] = absences;
  const isAlways = absences.every((each) => isDeepStrictEqual(each, first));
  if (first.length === 0 || !isAlways || node.assigned !== undefined) return;
  if (!pairs.some(({ sent }) => isUnset(sent[name], node))) node.absent = first;
}

/** Members that the server fills with what is free, or fills in a new object alone. */
const ALLOCATED: ReadonlySet<string> = new Set([
  'clusterIP',
  'clusterIPs',
  'healthCheckNodePort',
  'nodePort',
  'taints',
]);
const COMMON: ReadonlySet<string> = new Set(['metadata', 'status']);

/** Adds rules to the nodes of the table. */
export function learnRules(
  shapes: Shapes,
  answers: readonly (Answer & { readonly root: ShapeNode })[],
): void {
  const decoded = answers.filter(({ status }) => status === 201 || status === 422);
  const byNode = grouped(decoded);
  const pairs = pairsOf(shapes, answers);
  for (const [node, about] of byNode) {
    learnRefused(node, about);
    learnUnique(node, about);
  }
  for (const valueFor of [constantValue, chosenValue]) {
    for (const [shape, found] of pairs) {
      for (const [name, node] of Object.entries(shape.properties ?? {})) {
        if (COMMON.has(name) || ALLOCATED.has(name) || node.assigned !== undefined) continue;
        const assigned = valueFor(shape, assignmentsOf(name, node, found));
        if (assigned !== undefined) node.assigned = assigned;
      }
    }
  }
  for (const shape of Object.values(shapes)) {
    for (const [name, node] of Object.entries(shape.properties ?? {}))
      learnAbsent(name, node, byNode.get(node) ?? [], pairs.get(shape) ?? []);
  }
}

/** A struct without a member, with the value that the server assigns; undefined if there is none. */
interface Assignment extends Pair {
  readonly value: Json | undefined;
}

function assignmentsOf(name: string, node: ShapeNode, pairs: readonly Pair[]): Assignment[] {
  return pairs
    .filter(({ sent }) => isUnset(sent[name], node))
    .map((pair) => {
      // Go writes a null for a list without items.
      const value = pair.stored[name] ?? undefined;
      return { ...pair, value: isDeepStrictEqual(value, pair.sent[name]) ? undefined : value };
    });
}

function firstValue(assignments: readonly Assignment[]): Json | undefined {
  const first = assignments.find(({ value }) => value !== undefined)?.value;
  return JSON.stringify(first ?? null).includes('null') ? undefined : first;
}

/** Returns the value that all structs get, or all that are in no template. */
function constantValue(_: ShapeNode, assignments: readonly Assignment[]): Assigned | undefined {
  const first = firstValue(assignments);
  if (first === undefined) return undefined;
  if (assignments.every(({ value }) => isDeepStrictEqual(value, first))) return { value: first };
  const isTop = assignments.every((each) => isDeepStrictEqual(each.value, each.isTop ? first : undefined));
  return isTop ? { value: first, top: true } : undefined;
}

/** Returns the value that structs get for some texts of a sibling, and for no other. */
function chosenValue(shape: ShapeNode, assignments: readonly Assignment[]): Assigned | undefined {
  const first = firstValue(assignments);
  if (first === undefined) return undefined;
  for (const [sibling, node] of Object.entries(shape.properties ?? {})) {
    const isEnumeration =
      node.enum !== undefined || node.refused?.some((words) => words.startsWith('supported'));
    const isSent = assignments.every(({ sent, stored }) => isDeepStrictEqual(sent[sibling], stored[sibling]));
    const isConstant = node.assigned !== undefined && node.assigned.sibling === undefined;
    if (isEnumeration !== true || !(isSent || isConstant)) continue;
    const textOf = ({ stored }: Pair): string => memberText(stored[sibling]);
    const isFirst = ({ value }: Assignment): boolean => isDeepStrictEqual(value, first);
    const texts = [...new Set(assignments.filter(isFirst).map(textOf))];
    const isTrue = assignments.every((each) =>
      texts.includes(textOf(each)) ? isFirst(each) : each.value === undefined,
    );
    if (isTrue && !texts.includes('')) return { value: first, sibling, texts: texts.toSorted() };
  }
  return undefined;
}

function isWithin(field: string, outer: string): boolean {
  return field === outer || field.startsWith(`${outer}.`) || field.startsWith(`${outer}[`);
}

/** Returns the path without indexes of lists. */
function plain(field: string): string {
  return field.replaceAll(/\[\d+\]/g, '');
}

/** Answers to updates of an object. */
export interface Updates {
  readonly previous: JsonObject;
  readonly answers: readonly Answer[];
}

/** Returns the fields of a kind that updates may not change. Further lines of a refusal quote the change. */
export function learnFrozen(updates: readonly Updates[]): Frozen[] {
  const frozen = new Map<string, Frozen>();
  for (const { place, causes } of updates.flatMap(({ answers }) => answers)) {
    for (const { field = '', message = '' } of causes) {
      const [line = ''] = message.split('\n');
      const [words] = /field is immutable$|^Forbidden: .*$/.exec(line) ?? [];
      if (words === undefined || !isWithin(place.field, field)) continue;
      frozen.set(plain(field), { field: plain(field), words });
    }
  }
  return [...frozen.values()].filter((rule) =>
    updates.every(({ previous, answers }) =>
      answers.every(
        ({ status, stored }) => status !== 200 || frozenErrors(stored, previous, [rule]).length === 0,
      ),
    ),
  );
}
