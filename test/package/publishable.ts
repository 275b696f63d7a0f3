/** Conditions for publishing the package. */

/** The tools bring the packages that only they need, cel-js among them; the types of the built-in kinds are 35 kB. */
export const PACKED_BYTES_MAX = 1_560_000;

/** Fields that the publisher sets: this repository does not know its own address. */
const ADDRESSES = ['repository', 'homepage', 'bugs'] as const;

export interface Candidate {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly changelog: string;
  /** Output of `git status --porcelain`. */
  readonly uncommitted: string;
}

/** Returns one sentence for each field of package.json that the publisher must set before publishing. */
export function missingAddresses({ manifest }: Pick<Candidate, 'manifest'>): string[] {
  return ADDRESSES.filter((name) => !isAddress(manifest[name])).map(
    (name) => `package.json has no address in "${name}": set it to yours (npm pkg set ${EXAMPLES[name]})`,
  );
}

/** Returns one sentence for each fault of the version itself; none when the package may be published, with its addresses. */
export function objections({ manifest, changelog, uncommitted }: Candidate): string[] {
  const found: string[] = [];
  const version = String(manifest['version']);
  if (!changelog.split('\n').some((line) => line.startsWith(`## ${version}`))) {
    found.push(`CHANGELOG.md has no heading "## ${version}": rename "## Unreleased"`);
  }
  if (uncommitted.trim() !== '') found.push(`these changes are not committed:\n${uncommitted.trimEnd()}`);
  return found;
}

const EXAMPLES: Readonly<Record<(typeof ADDRESSES)[number], string>> = {
  repository: 'repository.type=git repository.url=git+https://…',
  homepage: 'homepage=https://…',
  bugs: 'bugs.url=https://…',
};

/** Accepts the text form and the object form, which has the address in `url`. */
function isAddress(value: unknown): boolean {
  const address: unknown =
    typeof value === 'object' && value !== null ? (value as { readonly url?: unknown }).url : value;
  return typeof address === 'string' && /^[\w+-]+:./.test(address);
}
