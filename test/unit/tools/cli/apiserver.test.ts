/** The kubeconfig of an embedded server holds a token, and must not replace that of a real cluster. */
import assert from 'node:assert/strict';
import { readFile, readdir, stat, symlink } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { checkKubeConfigTarget, writeKubeConfig } from '../../../../src/tools/cli/apiserver.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';

const YAML = 'apiVersion: v1\nkind: Config\ncurrent-context: kubeloom-embedded\n';
const REFUSED = { code: 'ERR_KUBELOOM_USAGE' };

describe('a kubeconfig file', () => {
  it('is readable by its owner only, also when it replaces an older one that was not', async () => {
    await using folder = new TemporaryFolder();
    for (const path of [folder.file('new'), folder.write('old', `${YAML}# old`)]) {
      await writeKubeConfig(path, YAML);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.equal(await readFile(path, 'utf8'), YAML);
    }
  });

  it('may replace an empty file, as mktemp creates it', async () => {
    await using folder = new TemporaryFolder();
    await writeKubeConfig(folder.write('empty', ''), YAML);
    assert.deepEqual(await readdir(folder.path), ['empty']);
  });

  it('never replaces one of another cluster, or something that is not a file', async () => {
    await using folder = new TemporaryFolder();
    const real = folder.write('real', 'current-context: production\n');
    await symlink(real, folder.file('link'));
    for (const path of [real, folder.file('link'), folder.path, '/dev/null']) {
      await assert.rejects(checkKubeConfigTarget(path), REFUSED, path);
      await assert.rejects(writeKubeConfig(path, YAML), REFUSED, path);
    }
    assert.equal(await readFile(real, 'utf8'), 'current-context: production\n');
  });

  it('that cannot be written is an error with the reason, and leaves no file', async () => {
    await using folder = new TemporaryFolder();
    const refused = { ...REFUSED, message: /ENOENT/ };
    await assert.rejects(writeKubeConfig(folder.file('missing/kubeconfig'), YAML), refused);
    assert.deepEqual(await readdir(folder.path), []);
  });
});
