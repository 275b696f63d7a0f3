/** The version of the kubeloom package that this file belongs to. */
import { createRequire } from 'node:module';

export function packageVersion(): string {
  // The package's own exports lead to it, wherever this file was built to.
  const { version } = createRequire(import.meta.url)('kubeloom/package.json') as { readonly version: string };
  return version;
}
