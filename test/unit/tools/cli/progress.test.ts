/** The live line where there is no terminal: a plain one, at most one a second. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { progressText } from '../../../../src/tools/cli/demo/demo-report.ts';
import { barLine, PlainProgress } from '../../../../src/tools/cli/terminal/progress.ts';

describe('plain progress', () => {
  it('reports a step at once, and progress once a second', () => {
    const lines: string[] = [];
    let now = 0;
    const progress = new PlainProgress(
      (line) => lines.push(line),
      () => now,
    );
    progress.say('starting');
    progress.begin();
    for (now = 0; now <= 2500; now += 100) progress.update(now, progressText(now * 20, now * 19, now));
    progress.end();
    assert.deepEqual(lines, [
      'starting',
      'sent 20,000, prompt handler 19,000, slow handler 1,000',
      'sent 40,000, prompt handler 38,000, slow handler 2,000',
    ]);
  });

  it('omits figures that the server does not report', () => {
    assert.equal(progressText(undefined, 7, 5), 'prompt handler 7, slow handler 5');
  });
});

it('a bar has as many full characters as there is progress', () => {
  assert.equal(barLine(0, ''), `${'░'.repeat(30)} 0 %`);
  assert.equal(barLine(0.5, '5 of 10'), `${'█'.repeat(15)}${'░'.repeat(15)} 50 %  5 of 10`);
  assert.equal(barLine(1, ''), `${'█'.repeat(30)} 100 %`);
});
