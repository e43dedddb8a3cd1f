// Forms with steps, rows, look-ups, files and dialogs.

import { quoted } from '../kit/oracle-cell.ts';
import { template, type Template } from '../kit/template.ts';
import { code, people, pounds, some } from '../kit/words.ts';
import { officeApp } from './app.ts';
import { ROW_KINDS } from './special-pages.ts';
import { COUNTRIES, handIn, officeWorld } from './world.ts';

const ANIMALS = ['Bramble', 'Pepper', 'Juno', 'Rusty', 'Willow', 'Captain'];

export const SPECIAL_TASKS: readonly Template[] = [
  template(officeApp, 'form-steps', 'train', (rng) => {
    const state = officeWorld(rng);
    const [owner] = people(rng, 1);
    const [called, guide] = [rng.pick(ANIMALS), rng.next() < 0.5];
    const kind = rng.pick(['Dog', 'Cat', 'Horse'] as const);
    const indoors = rng.pick(['Indoors', 'Outdoors']);
    const chip = `${rng.integer(100, 999)}-${rng.integer(1000, 9999)}`;
    const { details, words, steps } = {
      Dog: {
        details: { chip, guide },
        words: `Its chip has the number ${chip}; it is ${guide ? 'a guide dog' : 'no guide dog'}.`,
        steps: `await fill('chip', '${chip}'); ${guide ? "await click('[name=guide]');" : ''}`,
      },
      Cat: {
        details: { indoors },
        words: `It lives ${indoors.toLowerCase()}.`,
        steps: `await set('indoors', '${indoors}');`,
      },
      Horse: {
        details: { stable: `${called}'s Yard` },
        words: `Its stable is called ${called}'s Yard.`,
        steps: `await fill('stable', ${quoted(`${called}'s Yard`)});`,
      },
    }[kind];
    return {
      state,
      start: '/',
      instruction: `Register the ${kind.toLowerCase()} ${called} at the town office. ${words} The owner is ${owner}.`,
      params: { kind, called, owner },
      goal: (after) => void handIn(after, 'animal', { kind, called, owner, ...details }),
      oracle: `await open('Register an animal'); await set('kind', '${kind}'); await fill('called', '${called}'); await press('button', 'Continue');
        ${steps} await press('button', 'Continue'); await fill('owner', ${quoted(owner)}); await submit('Register');`,
    };
  }),
  template(officeApp, 'form-rows', 'test', (rng) => {
    const state = officeWorld(rng);
    const trip = `${rng.pick(['Fair', 'Training', 'Meeting'])} in ${rng.pick(['Oslo', 'Ghent', 'Porto'])}`;
    const lines = some(rng, ROW_KINDS, 3).map((kind, i) => ({
      id: `line${i + 1}`,
      kind,
      pence: rng.integer(300, 30_000),
    }));
    const rest = lines.map(({ kind, pence }) => `${kind.toLowerCase()} ${pounds(pence)}`).join(', ');
    return {
      state,
      start: '/',
      instruction: `Claim the expenses of the trip “${trip}”, in this order: ${rest}.`,
      params: { trip, lines },
      goal: (after) => void handIn(after, 'expenses', { trip, lines }),
      oracle: `await open('Claim expenses'); await fill('trip', '${trip}');
        ${lines.map(({ kind, pence }, i) => `${i > 0 ? "await press('button', 'Add line');" : ''} await set('kind${i}', '${kind}'); await fill('amount${i}', '${(pence / 100).toFixed(2)}');`).join('\n')}
        await submit('Claim');`,
    };
  }),
  template(officeApp, 'form-dependent', 'train', (rng) => {
    const state = officeWorld(rng);
    const country = rng.pick(COUNTRIES);
    const [branch, weight] = [rng.pick(state.branches[country]), rng.integer(1, 31)];
    return {
      state,
      start: '/',
      instruction: `Send a parcel of ${weight} kg to the branch ${branch} in ${country}.`,
      params: { country, branch, weight },
      goal: (after) => void handIn(after, 'parcel', { country, branch, weight }),
      oracle: `await open('Send a parcel abroad'); await set('country', '${country}');
        await until('the branches', () => js("document.querySelector('#branch').options.length > 1 && !document.querySelector('#branch').disabled"));
        await set('branch', ${quoted(branch)}); await fill('weight', '${weight}'); await submit('Send parcel');`,
    };
  }),
  template(officeApp, 'form-look-up', 'test', (rng) => {
    const state = officeWorld(rng);
    const { street, town, postcode } = rng.pick(state.places);
    const size = rng.pick(['120 litres', '240 litres']);
    return {
      state,
      start: '/',
      instruction: `Order a refuse bin of ${size} for ${street}, ${town}. The postcode is ${postcode}.`,
      params: { street, postcode, size },
      goal: (after) => void handIn(after, 'bin', { street, town, size }),
      oracle: `await open('Order a refuse bin'); await fill('postcode', '${postcode}'); await press('button', 'Find address');
        await press('button', ${quoted(`${street}, ${town}`)}); await set('size', '${size}'); await submit('Order bin');`,
    };
  }),
  template(officeApp, 'form-file', 'train', (rng) => {
    const state = officeWorld(rng);
    const [name] = people(rng, 1);
    const post = rng.pick(['Gardener', 'Librarian', 'Clerk']);
    const text = `I can start on the ${rng.pick(['first', 'tenth', 'fifteenth'])} of May. Reference ${code(rng, 6)}.`;
    return {
      state,
      start: '/',
      instruction: `Apply for the post of ${post.toLowerCase()} in the name of ${name}. The letter is a text file letter.txt with this one line: ${text}`,
      params: { post, name, text },
      goal: (after) => void handIn(after, 'job', { post, name, file: 'letter.txt', text }),
      oracle: `await open('Apply for a job'); await set('post', '${post}'); await fill('name', ${quoted(name)});
        await attach('letter', 'letter.txt', ${quoted(text)}); await submit('Apply');`,
    };
  }),
  template(officeApp, 'form-dialog', 'train', (rng) => {
    const state = officeWorld(rng);
    const stars = rng.integer(1, 6);
    const words = rng.pick([
      'Quick and friendly.',
      'I waited for an hour.',
      'The forms are clear.',
      'Nobody picked up the telephone.',
    ]);
    return {
      state,
      start: '/',
      instruction: `Give the town office feedback: ${stars} ${stars === 1 ? 'star' : 'stars'}, and these words: ${words}`,
      params: { stars, words },
      goal: (after) => void handIn(after, 'feedback', { stars, words }),
      oracle: `await open('Tell us how we do'); await press('button', 'Give feedback'); await click('[name=stars][value="${stars}"]'); await fill('words', ${quoted(words)}); await submit('Send feedback');`,
    };
  }),
];
