/** Tests of the refusal to publish, and of the script that refuses. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { objections } from './publishable.ts';

const SCRIPT = fileURLToPath(new URL('run.js', import.meta.url));
const READY = {
  manifest: {
    version: '1.2.3',
    repository: { type: 'git', url: 'git+ssh://git.example.com/a.git' },
    homepage: 'https://example.com',
    bugs: 'mailto:bugs@example.com',
  },
  changelog: '# Changelog\n\n## 1.2.3, 2026-11-23\n',
  uncommitted: '',
};

describe('publishing', () => {
  test('has no objection when the addresses are set, the version has its changes and all is committed', () => {
    assert.deepEqual(objections(READY), []);
  });

  for (const name of ['repository', 'homepage', 'bugs']) {
    for (const value of [undefined, '', 'TODO', {}, { url: '' }]) {
      test(`is refused while ${name} is ${JSON.stringify(value)}, with the command that sets it`, () => {
        const [first = '', ...others] = objections({
          ...READY,
          manifest: { ...READY.manifest, [name]: value },
        });
        assert.match(first, new RegExp(`^package\\.json has no address in "${name}": .*npm pkg set ${name}`));
        assert.deepEqual(others, []);
      });
    }
  }

  test('is refused while the version has no heading in the changelog, or a change is not committed', () => {
    assert.match(objections({ ...READY, changelog: '## Unreleased\n' }).join(), /no heading "## 1\.2\.3"/);
    assert.match(objections({ ...READY, uncommitted: ' M src/index.ts\n' }).join(), /not committed:\n M src/);
  });

  test('is refused by the script without any address, and names the three', () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubeloom-release-'));
    writeFileSync(join(folder, 'package.json'), '{"version":"0.1.0"}');
    writeFileSync(join(folder, 'CHANGELOG.md'), '## 0.1.0\n');
    for (const args of [[], ['--check']]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.equal(stdout, '');
      assert.match(stderr, /^kubeloom is not published:\n- .*"repository".*\n- .*"homepage".*\n- .*"bugs"/);
    }
    rmSync(folder, { recursive: true });
  });
});
