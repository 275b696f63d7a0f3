/**
 * Checks of arguments as tables of members, including the required members: for the control API and for the server's
 * options, which share the definition of a resource.
 */
import { checkOptions, flag, invalidOption, text } from '../../../base/option-checks.ts';
import type { OptionCheck, OptionChecks } from '../../../base/option-checks.ts';
import type { ResourceDefinition } from './resources.ts';

/** Checks of an argument's members, and the required members. */
export interface Shape<Argument> {
  readonly checks: OptionChecks<Argument>;
  readonly required: readonly (keyof Argument & string)[];
}

export function shape<Argument>(
  checks: OptionChecks<Argument>,
  ...required: readonly (keyof Argument & string)[]
): Shape<Argument> {
  return { checks, required };
}

export function checkShape<Argument>(
  what: string,
  value: unknown,
  { checks, required }: Shape<Argument>,
): void {
  checkOptions(what, value, checks, `${what}: `);
  for (const name of required)
    if (Reflect.get(value as object, name) === undefined)
      invalidOption(`${what}: ${name}`, undefined, 'given');
}

export function plainObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    invalidOption(name, value, 'an object');
}

export function listOf(what: string, item: (name: string, value: unknown) => void): OptionCheck {
  return (name, value) => {
    if (!Array.isArray(value)) invalidOption(name, value, `an array of ${what}`);
    for (const [index, each] of value.entries()) item(`${name}[${index}]`, each);
  };
}

export const RESOURCE: Shape<ResourceDefinition> = shape<ResourceDefinition>(
  {
    group: text,
    version: text,
    resource: text,
    kind: text,
    namespaced: flag,
    shortNames: listOf('texts', text),
    status: flag,
    fields: plainObject,
    graceful: flag,
    returnsDeleted: flag,
    custom: flag,
  },
  'group',
  'version',
  'resource',
  'kind',
  'namespaced',
);

/** Checks the option `resources` of the server. */
export const RESOURCE_DEFINITIONS: OptionCheck = listOf('resources', (name, value) =>
  checkShape(name, value, RESOURCE),
);
