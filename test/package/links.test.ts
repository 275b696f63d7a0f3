/** Tests of finding links in documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownLinks } from './links.ts';

const PAGE = '<a href="d.html?x=1">d</a> <img src="e.png"> <a href="//example.com">f</a> <a href="#g">g</a>';

test('links to other files are found in Markdown and its HTML, and none in code', () => {
  const text = [
    'See [one](docs/a.md#part), ![picture](b%20c.svg "title") and `[no](code.md)`.',
    '[far](https://example.com/x.md) [here](#part) [mail](mailto:a@example.com)',
    '```sh\n[no](fenced.md)\n```',
    PAGE,
  ].join('\n');
  assert.deepEqual(markdownLinks(text), ['docs/a.md', 'b c.svg', 'd.html', 'e.png']);
});
