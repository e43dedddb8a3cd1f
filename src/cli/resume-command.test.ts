import { expect, test } from 'vitest';
import { resumeCommand } from './resume-command.ts';

test('the same settings, the folder that was chosen for the run, and --resume once', () => {
  const args = ['quickstart', '--seed', '2', '--quiet'];
  expect(resumeCommand({ args, out: 'runs/quickstart-1', program: 'npm run tabwright --' })).toBe(
    'npm run tabwright -- quickstart --seed 2 --quiet --out runs/quickstart-1 --resume',
  );
  const again = ['train', '--out', 'runs/a', '--overwrite', '--resume', '--steps', '3'];
  expect(resumeCommand({ args: again, out: 'runs/a', program: 'tabwright' })).toBe(
    'tabwright train --steps 3 --out runs/a --resume',
  );
  expect(resumeCommand({ args: ['eval', '--out=b'], out: 'b', program: 'tabwright' })).toBe(
    'tabwright eval --out b --resume',
  );
});

test('what a shell would take apart is quoted', () => {
  expect(resumeCommand({ args: ['eval', '--model', "it's mine"], out: 'a b', program: 'tabwright' })).toBe(
    `tabwright eval --model 'it'\\''s mine' --out 'a b' --resume`,
  );
});
