/**
 * The YAML of a request as the library of a real server reads it (YAML 1.1 without sexagesimals): `0644` is octal, `yes`
 * and `on` are booleans, the last of two equal keys counts, and only the first document is read.
 */

import { CORE_SCHEMA, NOT_RESOLVED, defineScalarTag, loadAll, mergeTag } from 'js-yaml';
import type { ScalarTagDefinition } from 'js-yaml';
import type { Json } from '../store/json.ts';

const BOOLEAN = /^(?:(y|yes|on|true)|n|no|off|false)$/i;
/** A word is lower case, upper case or capitalized. */
const WORD = /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/;
const WHOLE = /^([-+]?)0([xXbBoO]?)([0-9a-fA-F]+)$/;
const DECIMAL = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function booleanOf(source: string): boolean | undefined {
  const [word, yes] = BOOLEAN.exec(source) ?? [];
  return word === undefined || !WORD.test(word) ? undefined : yes !== undefined;
}

function numberOf(source: string): number | undefined {
  if (!/^[-+.0-9]/.test(source)) return undefined;
  const plain = source.replaceAll('_', '');
  const [, sign = '', base = '', digits = ''] = WHOLE.exec(plain) ?? [];
  const value = digits === '' ? Number.NaN : Number(`0${base.toLowerCase() || 'o'}${digits}`);
  if (!Number.isNaN(value)) return sign === '-' ? -value : value;
  return DECIMAL.test(plain) ? Number(plain) : undefined;
}

function tag(name: string, valueOf: (source: string) => boolean | number | undefined): ScalarTagDefinition {
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

/** @throws YAMLException, Error for too many aliases */
export function readYaml(text: string): Json {
  const [document = {}] = loadAll(text, { schema: SCHEMA, json: true }) as Json[];
  checkAliases(document);
  return document;
}
