/**
 * The YAML of a request as the library of a real server reads it (YAML 1.1 without sexagesimals): `0644` is octal, `yes`
 * and `on` are booleans, the last of two equal keys counts, and only the first document is read.
 */

import {
  CORE_SCHEMA,
  EVENT_ID,
  NOT_RESOLVED,
  SCALAR_STYLE,
  constructFromEvents,
  defineScalarTag,
  getScalarValue,
  mergeTag,
  parseEvents,
} from 'js-yaml';
import type { Event, ScalarTagDefinition } from 'js-yaml';
import { integerOf } from '../store/json.ts';
import type { Json } from '../store/json.ts';
import { quote } from '../store/status.ts';

const BOOLEAN = /^(?:(y|yes|on|true)|n|no|off|false)$/i;
/** A word is lower case, upper case or capitalized. */
const WORD = /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/;
const WHOLE = /^([-+]?)0([xXbBoO]?)([0-9a-fA-F]+)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function booleanOf(source: string): boolean | undefined {
  const [word, yes] = BOOLEAN.exec(source) ?? [];
  return word === undefined || !WORD.test(word) ? undefined : yes !== undefined;
}

function numberOf(source: string): number | bigint | undefined {
  if (!/^[-+.0-9]/.test(source)) return undefined;
  const plain = source.replaceAll('_', '');
  const [, sign = '', base = '', digits = ''] = WHOLE.exec(plain) ?? [];
  const based = `0${base.toLowerCase() || 'o'}${digits}`;
  if (digits !== '' && !Number.isNaN(Number(based))) return integerOf(BigInt(`${sign}1`) * BigInt(based));
  if (/^[-+]?\d+$/.test(plain)) return integerOf(BigInt(plain));
  return DECIMAL.test(plain) && Number.isFinite(Number(plain)) ? Number(plain) : undefined;
}

function tag(
  name: string,
  valueOf: (source: string) => boolean | number | bigint | undefined,
): ScalarTagDefinition {
  return defineScalarTag(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    resolve: (source) => valueOf(source) ?? NOT_RESOLVED,
    identify: () => false,
  });
}

const SCHEMA = CORE_SCHEMA.withTags(
  mergeTag,
  tag('bool', booleanOf),
  tag('int', numberOf),
  tag('float', numberOf),
);

/** Small documents may consist of aliases to 99 %, large documents to 10 %. */
const SMALL = 400_000;
const LARGE = 4_000_000;

function allowedShare(nodes: number): number {
  const excess = Math.min(Math.max(nodes - SMALL, 0) / (LARGE - SMALL), 1);
  return 0.99 - 0.89 * excess;
}

/** Refuses a document that repeats itself by aliases, before anything copies the values. @throws Error */
function checkAliases(document: Json): void {
  const seen = new Set<Json>();
  let [nodes, repeated] = [0, 0];
  const visit = (value: Json, isAlias: boolean): void => {
    nodes++;
    const isRepeated = isAlias || seen.has(value);
    if (isRepeated) repeated++;
    if (repeated > 100 && nodes > 1000 && repeated / nodes > allowedShare(nodes)) {
      throw new Error('document contains excessive aliasing');
    }
    if (typeof value !== 'object' || value === null) return;
    seen.add(value);
    for (const member of Object.values(value)) if (member !== undefined) visit(member, isRepeated);
    // The names of members are nodes as well.
    if (!Array.isArray(value)) nodes += Object.keys(value).length;
  };
  visit(document, false);
}

export interface YamlDocument {
  readonly value: Json;
  /** A message for each key that a mapping repeats, as go-yaml writes it. */
  readonly repeated: readonly string[];
}

/** @throws YAMLException, Error for too many aliases */
export function readYaml(text: string): YamlDocument {
  const events = parseEvents(text, {});
  const [value = {}] = constructFromEvents(events, { source: text, schema: SCHEMA, json: true }) as Json[];
  checkAliases(value);
  return { value, repeated: repeatedKeys(text, events) };
}

/** Walks through the first document. */
function repeatedKeys(text: string, events: readonly Event[]): string[] {
  const repeated: string[] = [];
  let position = 0;
  const visit = (): Event | undefined => {
    const event = events[position++];
    const isMapping = event?.type === EVENT_ID.MAPPING;
    if (!isMapping && event?.type !== EVENT_ID.SEQUENCE && event?.type !== EVENT_ID.DOCUMENT) return event;
    const seen = new Set<string>();
    while (position < events.length && events[position]?.type !== EVENT_ID.POP) {
      const key = visit();
      if (!isMapping) continue;
      const shown = shownKey(text, key);
      const value = visit();
      if (seen.has(shown)) repeated.push(`line ${lineOf(text, key, value)}: key ${shown} already set in map`);
      else if (shown !== '') seen.add(shown);
    }
    position++;
    return event;
  };
  visit();
  return repeated;
}

/** Returns a key as Go's %#v shows it; '' for a key that is no text, number or boolean. */
function shownKey(text: string, key: Event | undefined): string {
  if (key?.type !== EVENT_ID.SCALAR) return '';
  const source = getScalarValue(text, key);
  const value = key.style === SCALAR_STYLE.PLAIN ? (booleanOf(source) ?? numberOf(source)) : undefined;
  return value === undefined ? quote(source) : String(value);
}

/** Returns the line of a value; the text of a block begins below the value, and an absent value is at its key. */
function lineOf(text: string, key: Event | undefined, value: Event | undefined): number {
  const isBlock =
    value?.type === EVENT_ID.SCALAR &&
    (value.style === SCALAR_STYLE.LITERAL_BLOCK || value.style === SCALAR_STYLE.FOLDED_BLOCK);
  const start = (isBlock ? undefined : startOf(value)) ?? startOf(key) ?? 0;
  return text.slice(0, start).split('\n').length;
}

/** Returns the position of the first character of a value; undefined for a value without characters. */
function startOf(event: Event | undefined): number | undefined {
  if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP)
    return undefined;
  const starts = [event.anchorStart];
  if (event.type !== EVENT_ID.ALIAS)
    starts.push(event.tagStart, event.type === EVENT_ID.SCALAR ? event.valueStart : event.start);
  return starts.find((start) => start >= 0);
}
