/** Tests of the refusal to publish, and of the script that refuses. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { missingAddresses, objections } from './publishable.ts';

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
    assert.deepEqual([...missingAddresses(READY), ...objections(READY)], []);
  });

  for (const name of ['repository', 'homepage', 'bugs']) {
    for (const value of [undefined, '', 'TODO', {}, { url: '' }]) {
      test(`is refused while ${name} is ${JSON.stringify(value)}, with the command that sets it`, () => {
        const manifest = { ...READY.manifest, [name]: value };
        const [first = '', ...others] = missingAddresses({ manifest });
        assert.match(first, new RegExp(`^package\\.json has no address in "${name}": .*npm pkg set ${name}`));
        assert.deepEqual(others, []);
      });
    }
  }

  test('is refused while the version has no heading in the changelog, or a change is not committed', () => {
    assert.match(objections({ ...READY, changelog: '## Unreleased\n' }).join(), /no heading "## 1\.2\.3"/);
    assert.match(objections({ ...READY, uncommitted: ' M src/index.ts\n' }).join(), /not committed:\n M src/);
  });

  test('is refused by the script without any address, and a rehearsal lists the addresses for the publisher', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kubeloom-release-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'package.json'), '{"version":"0.1.0"}');
    writeFileSync(join(folder, 'CHANGELOG.md'), '## 0.1.0\n');
    const script = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(process.execPath, [SCRIPT, ...args], { cwd: folder, encoding: 'utf8' });
    const list = '- .*"repository".*\n- .*"homepage".*\n- .*"bugs".*\n';
    for (const args of [[], ['--check']]) {
      const { status, stdout, stderr } = script(...args);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, new RegExp(`^kubeloom is not published:\n${list}$`));
    }
    const { status, stdout, stderr } = script('--dry-run', '--check');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^\nthe publisher sets before publishing:\n${list}$`));
  });
});
