/** The built-in resources as values that carry their types: `resources.core.v1.pods`. */
import type { ResourceOf, ResourceRef } from './resource.ts';
import { BUILT_IN_GROUPS } from './resources.ts';
import type { BuiltInGroup, BuiltInGroups } from './resources.ts';
import type { BuiltInWire } from './wire.ts';

/** The built-in resources by client-go's names of group, version and resource. */
export type BuiltInResources = {
  readonly [Group in keyof BuiltInGroups]: {
    readonly [Version in keyof BuiltInGroups[Group]['versions']]: {
      readonly [Resource in keyof BuiltInGroups[Group]['versions'][Version]]: ResourceOf<
        BuiltInWire<Group, Version, Resource>
      >;
    };
  };
};

type Tree = Record<string, Record<string, Record<string, ResourceRef>>>;

function built(): Tree {
  const tree: Tree = {};
  const groups: Readonly<Record<string, BuiltInGroup>> = BUILT_IN_GROUPS;
  for (const [name, { group, versions }] of Object.entries(groups)) {
    const ofGroup = (tree[name] ??= {});
    for (const [version, all] of Object.entries(versions)) {
      const ofVersion = (ofGroup[version] ??= {});
      for (const [resource, scope] of Object.entries(all)) {
        ofVersion[resource] = Object.freeze({ group, version, resource: resource.toLowerCase(), ...scope });
      }
    }
  }
  return tree;
}

// The type is derived from the table, so the tree built from the table has it.
export const resources: BuiltInResources = built() as unknown as BuiltInResources;
