/** The steps of a release, all of them on the tarball that is published: what is in it, and whether it works everywhere. */
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withCompiled } from './bill-of-materials.ts';
import type { BillOfMaterials } from './bill-of-materials.ts';
import { ROOT, install, run, userEnvironment } from './installation.ts';
import { CHECKS, savePrograms } from './installed-package.ts';
import { licenseObjections, packagesIn } from './licenses.ts';
import { LINTERS, publint, typesWrong } from './linters.ts';
import { PACKED_BYTES_MAX } from './publishable.ts';
import { NODES, OTHERS, programOf } from './runtimes.ts';
import type { Runtime } from './runtimes.ts';
import type { Step } from './steps.ts';

/** Some examples call client-node's API. */
const BESIDE = '@kubernetes/client-node@1';

/** @param folder an empty folder outside the checkout */
export function releaseSteps(tarball: string, folder: string): Step[] {
  const everywhere = [...NODES, ...OTHERS].flatMap((runtime) => runtimeSteps(runtime, tarball, folder));
  return [...contentSteps(tarball, folder), ...everywhere];
}

function contentSteps(tarball: string, folder: string): Step[] {
  const linters = join(folder, 'linters');
  const production = join(folder, 'production');
  const licenses = async (): Promise<ReturnType<typeof packagesIn>> =>
    packagesIn(await readFile(join(ROOT, 'dist/THIRD-PARTY-LICENSES'), 'utf8'));
  return [
    {
      name: 'size',
      work: async () => {
        const { size } = await stat(tarball);
        if (size > PACKED_BYTES_MAX)
          throw new Error(`${size} bytes, at most ${PACKED_BYTES_MAX} are allowed`);
        return `${(size / 1000).toFixed(0)} kB of ${PACKED_BYTES_MAX / 1000} kB`;
      },
    },
    {
      name: 'publint',
      work: async () => {
        await mkdir(linters);
        await install(linters, LINTERS);
        await publint(linters, tarball);
        return '';
      },
    },
    { name: 'arethetypeswrong', work: async () => (await typesWrong(linters, tarball), '') },
    {
      name: 'licences of what is compiled in',
      work: async () => {
        const packages = await licenses();
        const reasons = licenseObjections(packages);
        if (packages.length === 0) reasons.push('THIRD-PARTY-LICENSES names no package');
        if (reasons.length > 0) throw new Error(reasons.join('; '));
        return `${packages.length} packages: ${[...new Set(packages.map(({ license }) => license))].join(', ')}`;
      },
    },
    {
      name: 'bill of materials',
      work: async () => {
        await mkdir(production);
        const bill = withCompiled(await installedBill(production), await licenses());
        const file = tarball.replace(/\.tgz$/, '.cdx.json');
        await writeFile(file, `${JSON.stringify(bill, undefined, 2)}\n`);
        return `${bill.components.length} components in ${file}`;
      },
    },
  ];
}

/**
 * Returns npm's bill of what an installation brings, from a manifest without development: with `--omit=dev` npm leaves out what
 * both need.
 *
 * @throws when a dependency is missing in it
 */
async function installedBill(folder: string): Promise<BillOfMaterials> {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8');
  const {
    devDependencies: _,
    peerDependencies: __,
    scripts: ___,
    ...manifest
  } = JSON.parse(text) as Manifest;
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await cp(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
  await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--silent'], { cwd: folder });
  const flags = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'];
  const { stdout } = await run('npm', ['sbom', ...flags], { cwd: folder, maxBuffer: 2 ** 26 });
  const bill = JSON.parse(stdout) as BillOfMaterials;
  const names = new Set(bill.components.map(({ name }) => name));
  const missing = Object.keys(manifest.dependencies).filter((name) => !names.has(name));
  if (missing.length > 0) throw new Error(`npm's bill has no ${missing.join(', ')}`);
  return bill;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: unknown;
  readonly peerDependencies: unknown;
  readonly scripts: unknown;
}

/**
 * Returns the steps of the installed package on a runtime: the installation, the checks, and the programs of docs/examples.
 *
 * @param folder an empty folder outside the checkout, for all runtimes
 */
export function runtimeSteps(runtime: Runtime, tarball: string, folder: string): Step[] {
  const place = join(folder, runtime.name.replace(' ', '-'));
  return [
    {
      name: `${runtime.name}: installation`,
      work: async () => {
        await mkdir(place);
        const program = await programOf(runtime);
        await install(place, [tarball, BESIDE], dirname(program));
        await savePrograms(place);
        return versionOf(program);
      },
    },
    ...Object.entries(CHECKS).map(([name, check]) => ({
      name: `${runtime.name}: ${name}`,
      work: async () => {
        await check({ folder: place, runtime, program: await programOf(runtime) });
        return '';
      },
    })),
    { name: `${runtime.name}: docs/examples`, work: () => playExamples(place, runtime) },
  ];
}

async function versionOf(program: string): Promise<string> {
  return (await run(program, ['--version'])).stdout.split('\n', 1)[0] ?? '';
}

/** Plays the programs of docs/examples with the installed package. @returns the last line, with the numbers of programs */
async function playExamples(place: string, runtime: Runtime): Promise<string> {
  const programs = join(place, 'examples');
  await cp(join(ROOT, 'dist/docs/examples'), programs, { recursive: true });
  const command = JSON.stringify([await programOf(runtime), ...runtime.run]);
  const env = { ...userEnvironment(), EXAMPLES_FOLDER: programs, EXAMPLES_COMMAND: command };
  const options = { cwd: ROOT, env };
  const played = run(process.execPath, [join(ROOT, 'dist/test/examples/run.js')], options);
  const { stdout } = await played.catch((error: Error & { readonly stdout?: string }) => {
    throw new Error(error.stdout?.replaceAll(/^ok .*\n/gm, '') ?? error.message, { cause: error });
  });
  return stdout.trim().split('\n').at(-1) ?? '';
}
