/** The file that `kubeloom types` writes: interfaces and a resource for each served version of each definition. */
import { KubeloomError } from '../../../base/errors.ts';
import { escapeControls } from '../../../base/printable.ts';
import type { TypedDefinition, TypedVersion } from './definition.ts';
import { Identifiers, literal, memberName, pascal, pluralName } from './identifiers.ts';
import { METADATA_TYPE, SchemaTypes } from './schema-types.ts';

const HEADER = `/* eslint-disable */
// Written by \`kubeloom types\` from CustomResourceDefinitions: run it again, and leave this file as it is.
import type { KubeObject, ResourceOf } from 'kubeloom';
`;

/**
 * Returns the text of the module. The names of a kind are plain, `Backup` and `backups`. If several versions are
 * served, the version is appended, `BackupV1`; if two groups define the kind, the group's name comes first.
 *
 * @throws ERR_KUBELOOM_USAGE when two places define the same resource, or no version is served
 */
export function moduleText(definitions: readonly TypedDefinition[]): string {
  const sorted = definitions.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (const [index, one] of sorted.entries()) {
    const next = sorted[index + 1];
    if (!next || keyOf(next) !== keyOf(one)) continue;
    const message = `${one.place} and ${next.place} both define ${one.plural}.${one.group}: leave out one of them`;
    throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
  }
  const names = new Identifiers('KubeObject', 'ResourceOf', 'NonNullable');
  const blocks = sorted.flatMap((definition) => {
    const isShared = sorted.filter(({ kind }) => kind === definition.kind).length > 1;
    return definition.versions.flatMap((version) => blocksOf(definition, version, isShared, names));
  });
  if (blocks.length === 0)
    throw new KubeloomError('ERR_KUBELOOM_USAGE', 'no version of the definitions is served');
  const text = `${HEADER}\n${blocks.join('\n\n')}\n`;
  // The text passes through a terminal unchanged, so that a file made from the output is equal.
  return text.split('\n').map(escapeControls).join('\n');
}

function keyOf({ group, plural }: TypedDefinition): string {
  return `${group}/${plural}`;
}

function blocksOf(
  { group, kind, plural, isNamespaced, versions }: TypedDefinition,
  { name: version, schema }: TypedVersion,
  isShared: boolean,
  names: Identifiers,
): string[] {
  const suffix = versions.length > 1 ? pascal(version) : '';
  const prefix = isShared ? pascal(group) : '';
  const types = new SchemaTypes(names);
  const fixed = new Map([
    ['apiVersion', literal(`${group}/${version}`)],
    ['kind', literal(kind)],
    ['metadata', METADATA_TYPE],
  ]);
  const typeName = types.interfaceOf(schema, `${prefix}${pascal(kind)}${suffix}`, fixed);
  const plain = pluralName(kind, plural);
  const shared = `${prefix.slice(0, 1).toLowerCase()}${prefix.slice(1)}${pascal(plain)}`;
  const constant = names.take(`${isShared ? shared : plain}${suffix}`);
  const members = { group, version, resource: plural, kind };
  const lines = Object.entries(members).map(([name, value]) => `  ${memberName(name)}: ${literal(value)},`);
  const resource = [
    `export const ${constant}: ResourceOf<${typeName}> = {`,
    ...lines,
    `  isNamespaced: ${isNamespaced},`,
    '};',
  ];
  return [...types.interfaces, resource.join('\n')];
}
