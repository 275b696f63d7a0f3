/**
 * The bill of materials of the package, in CycloneDX: npm lists what an installation brings, and this file adds what is
 * compiled into the package, which no installation shows.
 */
import type { CompiledPackage } from './licenses.ts';

/** The members of CycloneDX that are read or written here. */
export interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

/** Returns the bill with a component for each compiled package, on which the package itself depends. */
export function withCompiled<Bill extends BillOfMaterials>(
  bill: Bill,
  packages: readonly CompiledPackage[],
): Bill {
  const { component } = bill.metadata;
  const root = component['bom-ref'];
  const known = new Set(bill.components.map((each) => each['bom-ref']));
  const refs = packages.map(refOf);
  const added = packages.filter((each) => !known.has(refOf(each))).map(componentOf);
  const own = bill.dependencies.find(({ ref }) => ref === root)?.dependsOn ?? [];
  return {
    ...bill,
    components: [...bill.components, ...added],
    dependencies: [
      { ref: root, dependsOn: [...new Set([...own, ...refs])] },
      ...bill.dependencies.filter(({ ref }) => ref !== root),
      ...added.map((each) => ({ ref: each['bom-ref'], dependsOn: [] })),
    ],
  };
}

function refOf({ name, version }: CompiledPackage): string {
  return `${name}@${version}`;
}

function componentOf(compiled: CompiledPackage): Component {
  const { name, version, license } = compiled;
  const component = {
    'bom-ref': refOf(compiled),
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
    properties: [{ name: 'kubeloom:compiledInto', value: 'dist/tools' }],
  };
  return component;
}
