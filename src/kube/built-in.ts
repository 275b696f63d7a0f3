/** The built-in resources as values that carry their types: `resources.core.v1.pods`. */
import type { ResourceOf } from './resource.ts';
import { BUILT_IN_TREE } from './resources.ts';
import type { BuiltInGroups } from './resources.ts';
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

// The type is derived from the table, so the tree built from the table has the same type.
/** The built-in resources: `resources.core.v1.pods`. */
export const resources: BuiltInResources = BUILT_IN_TREE as unknown as BuiltInResources;
