/**
 * The tags of Go structs: OpenAPI leaves out the Go type of a field, whether Go omits the field's zero value, and the number of
 * the field in protobuf. The sources are those of the modules that the control plane is built from.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface GoField {
  /** Type as the source writes it: `*int32`, `metav1.ObjectMeta`. */
  readonly go: string;
  readonly omitempty?: true;
  /** Number in protobuf. */
  readonly number?: number;
}

export interface GoStruct {
  /** By the name in JSON. */
  readonly fields: ReadonlyMap<string, GoField>;
  /** Structs whose fields JSON shows among the fields of this struct. */
  readonly inline: readonly GoField[];
}

const STRUCT = /^type (\w+) struct \{$/;
const FIELD = /^\s+(?:\w+\s+)?(\S+)\s+`(.*)`$/;

/** Returns the structs of a source file by their names. */
export function goStructs(source: string): Map<string, GoStruct> {
  const structs = new Map<string, GoStruct>();
  let fields: Map<string, GoField> | undefined;
  let inline: GoField[] = [];
  for (const line of source.split('\n')) {
    const [, name] = STRUCT.exec(line) ?? [];
    if (name !== undefined) {
      fields = new Map();
      inline = [];
      structs.set(name, { fields, inline });
    }
    if (line === '}') fields = undefined;
    const [, go, tags = ''] = FIELD.exec(line) ?? [];
    if (fields === undefined || go === undefined || line.trimStart().startsWith('//')) continue;
    const [json = '', ...options] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? '').split(',');
    const number = Number(/protobuf:"\w+,(\d+)/.exec(tags)?.[1]);
    const field: GoField = {
      go,
      ...(options.includes('omitempty') ? { omitempty: true } : {}),
      ...(Number.isNaN(number) ? {} : { number }),
    };
    if (json === '') inline.push(field);
    else fields.set(json, field);
  }
  return structs;
}

/** Folders of the modules whose types the API has, with the prefix of the names in the table. */
const PACKAGES: readonly (readonly [module: string, folder: string, prefix: string])[] = [
  ['k8s.io/apimachinery', 'pkg/apis/meta/v1', 'meta.v1'],
  ['k8s.io/apiextensions-apiserver', 'pkg/apis/apiextensions/v1', 'apiextensions.v1'],
  ['k8s.io/kube-aggregator', 'pkg/apis/apiregistration/v1', 'apiregistration.v1'],
];

/** Returns the structs of the API by their names in the table: `apps.v1.DeploymentSpec`. */
export function structsOfApi(moduleFolder: string): Map<string, GoStruct> {
  const structs = new Map<string, GoStruct>();
  const read = (folder: string, prefix: string): void => {
    for (const file of existsSync(folder) ? readdirSync(folder) : []) {
      if (!file.endsWith('types.go') && !/^types\w*\.go$/.test(file)) continue;
      for (const [name, struct] of goStructs(readFileSync(join(folder, file), 'utf8')))
        structs.set(`${prefix}.${name}`, struct);
    }
  };
  for (const [module, folder, prefix] of PACKAGES) read(join(moduleOf(moduleFolder, module), folder), prefix);
  const api = moduleOf(moduleFolder, 'k8s.io/api');
  for (const group of readdirSync(api, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    for (const version of readdirSync(join(api, group.name)))
      if (/^v\d/.test(version)) read(join(api, group.name, version), `${group.name}.${version}`);
  }
  return structs;
}

function moduleOf(folder: string, module: string): string {
  const { stdout, status } = spawnSync('go', ['list', '-m', '-f', '{{.Dir}}', module], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`go list -m ${module} failed in ${folder}`);
  return stdout.trim();
}
