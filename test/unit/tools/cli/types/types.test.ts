/** `kubeloom types` from files, folders, the standard input and a cluster: what it prints, compares and refuses. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import { types } from '../../../../../src/tools/cli/types/types.ts';
import { TemporaryFolder } from '../../../../kit/temporary-folder.ts';

const SIGNAL = new AbortController().signal;

const MAIN = fileURLToPath(new URL('../../../../../src/tools/cli/main.js', import.meta.url));

interface Shape {
  readonly group?: string;
  readonly kind?: string;
  readonly plural?: string;
  readonly versions?: readonly object[];
}

function version(name: string, served = true): object {
  return { name, served, storage: name === 'v1', schema: { openAPIV3Schema: { type: 'object' } } };
}

/** A CustomResourceDefinition in JSON, which is YAML as well. */
function definition({
  group = 'example.com',
  kind = 'Backup',
  plural = 'backups',
  versions,
}: Shape = {}): object {
  const names = { kind, plural };
  const spec = { group, scope: 'Namespaced', names, versions: versions ?? [version('v1')] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec,
  };
}

function yaml(...objects: object[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}

/** Runs the command; returns what it printed. */
async function printed(context: TestContext, sources: readonly string[], flags = {}): Promise<string> {
  let text = '';
  const write = process.stdout.write.bind(process.stdout);
  const { mock } = context.mock.method(process.stdout, 'write', (chunk: string | Uint8Array) => {
    // The reporter of the tests writes bytes.
    if (typeof chunk !== 'string') return write(chunk);
    text += chunk;
    return true;
  });
  try {
    await types(sources, flags, SIGNAL);
  } finally {
    mock.restore();
  }
  return text;
}

/** The names that a module exports. */
function exportsOf(text: string): string[] {
  return [...text.matchAll(/^export (?:interface|const) (\w+)/gm)].map(([, name = '']) => name);
}

describe('kubeloom types', () => {
  it('reads files with several documents, Lists, and folders, and passes other objects over', async (context) => {
    await using folder = new TemporaryFolder();
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    const widget = definition({ kind: 'Widget', plural: 'widgets' });
    const list = { apiVersion: 'v1', kind: 'List', items: [configMap, widget] };
    const several = folder.write('several.yaml', `---\n${yaml(configMap, definition())}\n---\n`);
    mkdirSync(folder.file('crds/deep'), { recursive: true });
    folder.write('crds/kustomization.yaml', 'resources: [a.yaml]');
    folder.write('crds/README.md', '[not: yaml');
    folder.write('crds/deep/widget.json', JSON.stringify(list));
    assert.deepEqual(exportsOf(await printed(context, [several])), ['Backup', 'backups']);
    const both = await printed(context, [folder.file('crds'), several]);
    assert.deepEqual(exportsOf(both), ['Backup', 'backups', 'Widget', 'widgets']);
    assert.equal(await printed(context, [several, folder.file('crds')]), both);
  });

  it('names versions when several are served, and groups when two have a kind', async (context) => {
    await using folder = new TemporaryFolder();
    const versions = ['v1alpha1', 'v1', 'v2beta1', 'v1beta2', 'v10', 'old'].map((name) => version(name));
    const file = folder.write(
      'crds.yaml',
      yaml(
        definition({ versions: [...versions, version('v3', false)] }),
        definition({ group: 'a.example.com', kind: 'Widget', plural: 'widgets' }),
        definition({ group: 'b-b.example.com', kind: 'Widget', plural: 'widgets' }),
        definition({ kind: 'NonNullable', plural: 'nonnullables' }),
      ),
    );
    const names = exportsOf(await printed(context, [file]));
    const kinds = names.filter((_, index) => index % 2 === 0);
    assert.deepEqual(kinds, [
      'AExampleComWidget',
      'BBExampleComWidget',
      ...['V10', 'V1', 'V2beta1', 'V1beta2', 'V1alpha1', 'Old'].map((name) => `Backup${name}`),
      'NonNullable2',
    ]);
    assert.deepEqual(names.slice(1, 6), [
      'aExampleComWidgets',
      'BBExampleComWidget',
      'bBExampleComWidgets',
      'BackupV10',
      'backupsV10',
    ]);
  });

  it('prints the same text through a pipe and into --check, for any description', async (context) => {
    await using folder = new TemporaryFolder();
    const described = version('v1') as { schema: { openAPIV3Schema: Record<string, unknown> } };
    described.schema.openAPIV3Schema['description'] = 'a\u001B[31m red \u202E one\u2028two';
    const file = folder.write('crd.yaml', yaml(definition({ versions: [described] })));
    const text = await printed(context, [file]);
    assert.ok(!text.includes('\u001B') && !text.includes('\u202E'));
    const target = folder.write('types.ts', text.replaceAll('\n', '\r\n'));
    const piped = spawnSync(process.execPath, [MAIN, 'types', '-'], { input: readFileSync(file) });
    assert.deepEqual([piped.status, piped.stdout.toString(), piped.stderr.toString()], [0, text, '']);
    assert.equal(await printed(context, [file], { check: target }), '');
    folder.write('types.ts', text.replace('Backup', 'Backups'));
    const checked = spawnSync(process.execPath, [MAIN, 'types', file, '--check', target]);
    assert.equal(checked.status, 1);
    assert.match(checked.stderr.toString(), /types\.ts is out of date: write it again/);
    assert.equal(checked.stdout.toString(), '');
  });

  it('reads the definitions of a cluster, all of them or those that are named', async (context) => {
    await using server = await startEmbeddedApiServer();
    await using folder = new TemporaryFolder();
    const resource = 'customresourcedefinitions.apiextensions.k8s.io';
    const kinds = Array.from({ length: 25 }, (_, index) => `Kind${String.fromCodePoint(97 + index)}`);
    const all = kinds.map((kind) => definition({ kind, plural: `${kind.toLowerCase()}s` }));
    await server.apply(all.map((object) => ({ type: 'create', resource, object: object as never })));
    const kubeconfig = folder.write('kubeconfig', server.kubeConfigYaml, 0o600);
    const file = folder.write('crds.yaml', yaml(...all));
    assert.equal(await printed(context, [], { kubeconfig }), await printed(context, [file]));
    const [one = ''] = kinds;
    assert.deepEqual(
      exportsOf(await printed(context, [`${one}s.example.com`.toLowerCase()], { kubeconfig })),
      [one, `${one[0]?.toLowerCase()}${one.slice(1)}s`],
    );
    await assert.rejects(types(['absent.example.com'], { kubeconfig }, SIGNAL), {
      code: 'ERR_KUBELOOM_NOT_FOUND',
    });
  });

  it('refuses files that define no type, with a code and the place', async () => {
    await using folder = new TemporaryFolder();
    const good = definition() as { spec: Record<string, unknown> };
    const withSpec = (spec: object): string => yaml({ ...good, spec: { ...good.spec, ...spec } });
    const wrong: readonly (readonly [text: string, message: RegExp])[] = [
      ['a: [', /1\.yaml|0\.yaml, document 1: /],
      ['a: &a [*a]', /document 1: its anchors/],
      ['['.repeat(50_000), /\.yaml/],
      ['', /: it has no CustomResourceDefinition$/],
      [yaml({ kind: 'Pod' }), /: it has no CustomResourceDefinition$/],
      [
        yaml({ ...good, apiVersion: 'apiextensions.k8s.io/v1beta1' }),
        /document 1: it has the apiVersion .*v1beta1/,
      ],
      [yaml({ kind: 'List', items: [{ kind: 'CustomResourceDefinition' }] }), /document 1, item 1: it has/],
      [withSpec({ versions: undefined }), /document 1: spec\.versions is missing/],
      [withSpec({ versions: ['v1'] }), /spec\.versions\[0\] is no object/],
      [withSpec({ versions: [{ served: true }] }), /spec\.versions\[0\]\.name must be a name, got nothing/],
      [withSpec({ scope: 'Planet' }), /spec\.scope must be Namespaced or Cluster/],
      [withSpec({ group: "x';\nalert()" }), /spec\.group must be a name/],
      [withSpec({ names: { plural: 'a' } }), /spec\.names\.kind must be a name/],
      [withSpec({ versions: [version('v1', false)] }), /no version of the definitions is served/],
      [yaml(good, good), /document 1 and .*document 2 both define backups\.example\.com/],
    ];
    for (const [index, [text, message]] of wrong.entries()) {
      const file = folder.write(`${index}.yaml`, text);
      await assert.rejects(
        types([file], {}, SIGNAL),
        { code: 'ERR_KUBELOOM_USAGE', message },
        text.slice(0, 200),
      );
    }
    await assert.rejects(types([], {}, SIGNAL), {
      code: 'ERR_KUBELOOM_USAGE',
      message: /^name files or folders, - for/,
    });
    await assert.rejects(types([folder.file('absent')], {}, SIGNAL), {
      code: 'ERR_KUBELOOM_USAGE',
      message: /absent: ENOENT/,
    });
    const file = folder.write('good.yaml', yaml(good));
    const check = join(folder.path, 'absent.ts');
    await assert.rejects(types([file], { check }, SIGNAL), {
      code: 'ERR_KUBELOOM_USAGE',
      message: /^--check .*ENOENT/,
    });
  });
});
