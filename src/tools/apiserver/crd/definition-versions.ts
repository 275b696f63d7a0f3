/**
 * The rules for the versions of a definition. A real server moves what all versions share to the spec before it checks
 * them, so the paths of its errors name `spec.validation` instead of `spec.versions[0].schema`.
 */

import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { invalidValue, members, objects, required, text } from '../store/causes.ts';
import { labelRules } from './definition-names.ts';
import { columnErrors, selectableErrors, subresourceErrors } from './definition-paths.ts';
import { goVersions } from './go-value.ts';
import { schemaErrors } from './schema-rules.ts';
import { isSet } from './structural-rules.ts';

const SHARED = ['subresources', 'schema', 'additionalPrinterColumns', 'selectableFields'] as const;

/** The versions with the members that not all of them share, and the shared members. */
interface Parts {
  readonly versions: readonly JsonObject[];
  readonly shared: JsonObject;
}

function normal(value: Json | undefined): Json | undefined {
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  return value;
}

function partsOf(given: readonly JsonObject[]): Parts {
  const names = SHARED.filter((name) =>
    given.every((version) => isDeepStrictEqual(normal(version[name]), normal(given[0]?.[name]))),
  );
  const isShared = ([name]: [string, unknown]): boolean => names.some((each) => each === name);
  return {
    shared: Object.fromEntries(names.map((name) => [name, given[0]?.[name]])),
    versions: given.map((version) =>
      Object.fromEntries(Object.entries(version).filter((entry) => !isShared(entry))),
    ),
  };
}

const rootOf = (part: JsonObject): Json | undefined => members(part['schema'])['openAPIV3Schema'];

function hasStatus(subresources: Json | undefined): boolean {
  return isJsonObject(members(subresources)['status']);
}

/** Returns the broken rules of the members that versions may share. `schemaName`: the schema's name in a path. */
function memberErrors(
  part: JsonObject,
  path: string,
  schemaName: string,
  isStatusApart: boolean,
  withoutSchema: string,
): FieldError[] {
  const root = rootOf(part);
  const errors = isJsonObject(root)
    ? schemaErrors(root, `${path}.${schemaName}.openAPIV3Schema`, isStatusApart)
    : [];
  errors.push(...subresourceErrors(part['subresources'], `${path}.subresources`));
  errors.push(...columnErrors(part['additionalPrinterColumns'], `${path}.additionalPrinterColumns`));
  const [fields, field] = [part['selectableFields'], `${path}.selectableFields`];
  if (isJsonObject(root)) errors.push(...selectableErrors(fields, root, field));
  else if (objects(fields).length > 0) errors.push(invalidValue(field, '', withoutSchema));
  return errors;
}

function warningErrors({ deprecated, deprecationWarning: warning }: JsonObject, path: string): FieldError[] {
  if (typeof warning !== 'string') return [];
  const field = `${path}.deprecationWarning`;
  if (deprecated !== true) return [invalidValue(field, warning, 'can only be set for deprecated versions')];
  const errors: string[] = [];
  if (Buffer.byteLength(warning) > 256) errors.push('must be <= 256 characters long');
  if (warning === '') errors.push('must not be an empty string');
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const at = Buffer.byteLength(warning.slice(0, odd.index));
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return errors.map((why) => invalidValue(field, warning, why));
}

function nameErrors(field: string, name: string): FieldError[] {
  const why = labelRules(name);
  return why.length === 0 ? [] : [invalidValue(field, name, why.join(','))];
}

/** The errors of each version, and the errors of members that all versions share. */
export interface VersionErrors {
  readonly own: FieldError[];
  readonly shared: FieldError[];
}

export function versionErrors(spec: JsonObject): VersionErrors {
  const given = objects(spec['versions']);
  const { versions, shared } = partsOf(given);
  const own: FieldError[] = [];
  for (const [index, version] of given.entries())
    if (!isSet(rootOf(version)) && !isJsonObject(rootOf(version)))
      own.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}]`;
    own.push(...nameErrors(`${path}.name`, text(version['name'])), ...warningErrors(version, path));
    const isStatusApart = hasStatus(given[index]?.['subresources']);
    const why = 'may only be set when `version.schema.openAPIV3Schema` is not included';
    own.push(...memberErrors(version, path, 'schema', isStatusApart, why));
  }
  const shown = Array.isArray(spec['versions']) ? goVersions([...versions]) : null;
  const names = versions.map(({ name }) => text(name));
  if (new Set(names).size < names.length)
    own.push(invalidValue('spec.versions', shown, 'must contain unique version names'));
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    own.push(invalidValue('spec.versions', shown, why));
  }
  if (names[0] !== undefined && names[0] !== '') own.push(...nameErrors('spec.version', names[0]));
  const isAnyApart = given.some(({ subresources }) => hasStatus(subresources));
  const why = 'may only be set when validations.schema is included';
  return { own, shared: memberErrors(shared, 'spec', 'validation', isAnyApart, why) };
}

/** Returns the versions in which objects may be stored: the stored versions of the status, and the present storage version. */
export function storedVersions(before: readonly string[], spec: JsonObject): string[] {
  const current = objects(spec['versions']).find(({ storage }) => storage === true);
  return current === undefined ? [...before] : [...new Set([...before, text(current['name'])])];
}

/** A version whose objects are stored cannot be removed. */
export function storedVersionErrors(stored: readonly string[], spec: JsonObject): FieldError[] {
  const field = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(field, null, 'must have at least one stored version')];
  const versions = objects(spec['versions']);
  const names = versions.map(({ name }) => text(name));
  return [
    ...versions
      .filter(({ name, storage }) => storage === true && !stored.includes(text(name)))
      .map(({ name }) => invalidValue(field, [...stored], `must have the storage version ${text(name)}`)),
    ...stored.flatMap((name, index) => {
      if (names.includes(name)) return [];
      const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      return [invalidValue(`${field}[${index}]`, name, why)];
    }),
  ];
}
