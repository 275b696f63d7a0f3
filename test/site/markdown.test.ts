/** Documents as pages of the site: their links, the files behind them, and the lines of llms.txt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderPage, llmsText, pageOf, sourceOf, sourcePage, summaryOf } from './markdown.ts';

test('links to documents become links to pages, with their anchors; links to elsewhere stay', () => {
  const text = [
    '[one](metrics.md#channels), [two](../README.md), [three](examples/README.md), [four](examples)',
    '[five](#here), [six](https://kep.k8s.io/5866), ![seven](loadtest/report.png)',
  ].join('\n');
  const page = pageOf('docs/operations.md', text);
  assert.equal(
    page.text,
    [
      '[one](/metrics.md#channels), [two](/index.md), [three](/examples/index.md), [four](/examples/index.md)',
      '[five](#here), [six](https://kep.k8s.io/5866), ![seven](/loadtest/report.png)',
    ].join('\n'),
  );
  assert.deepEqual(page.files, ['docs/loadtest/report.png']);
});

test('links to files of the repository become links to pages that show them', () => {
  const page = pageOf('docs/operator.md', '[a](examples/informer.ts) `[b](c.md)`\n```\n[d](e.md)\n```\n');
  const place = 'files/examples/informer-ts.md';
  assert.equal(page.text, `[a](/${place}) \`[b](c.md)\`\n\`\`\`\n[d](e.md)\n\`\`\`\n`);
  assert.deepEqual(page.files, ['docs/examples/informer.ts']);
  assert.equal(sourceOf('docs/examples/informer.ts'), place);
  assert.match(sourcePage('docs/examples/informer.ts', 'x;\n'), /^# informer\.ts\n[^]*````ts\nx;\n````\n$/);
  assert.match(
    folderPage('docs/examples', ['informer.ts']),
    /- \[informer\.ts\]\(\/files\/examples\/informer-ts\.md\)/,
  );
});

test('the charts of the benchmarks are pictures, and comments are left out', () => {
  const text = '<!-- figures -->\nCharts: `docs/benchmarks/watch.svg`, `docs/benchmarks/sync.svg`.\n';
  const page = pageOf('docs/benchmarks.md', text);
  assert.equal(
    page.text,
    '![benchmarks/watch.svg](/benchmarks/watch.svg)\n\n![benchmarks/sync.svg](/benchmarks/sync.svg)\n',
  );
  assert.deepEqual(page.files, ['docs/benchmarks/watch.svg', 'docs/benchmarks/sync.svg']);
});

test('llms.txt has every section, and each page with its first sentence', () => {
  assert.equal(summaryOf('# A\n\nThe [one](b.md) and\n`two`. Then more.\n'), 'The one and two.');
  assert.equal(summaryOf('# A\n\n- a list\n'), '');
  const text = llmsText('what it is', (path) => `# T\n\nAbout ${path}. More.\n`);
  assert.ok(
    text.startsWith(
      '# kubeloom\n\n> what it is\n\n## Start\n\n- [Getting started](/index.md): About README.md.\n',
    ),
  );
  assert.match(text, /^## Decisions$/m);
});
