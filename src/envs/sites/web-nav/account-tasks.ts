// Things to set in an account, and nothing beside them.

import { quoted } from '../kit/oracle-cell.ts';
import { inTurn, pickFitting, template, type Template } from '../kit/template.ts';
import { accountApp } from './account-app.ts';
import { accountWorld, AUDIENCES, LANGUAGES, NOTICES } from './account-world.ts';

export const ACCOUNT_TASKS: readonly Template[] = [
  template(accountApp, 'setting-language', 'train', (rng) => {
    const state = accountWorld(rng);
    const language = pickFitting(rng, LANGUAGES, (one) => one !== state.profile.language);
    return {
      state,
      start: '/',
      instruction: `Change the language of my Fennel account to ${language}.`,
      params: { language },
      goal: (after) => void (after.profile.language = language),
      oracle: `await open('Profile'); await set('language', ${quoted(language)}); await submit('Save');`,
    };
  }),
  template(accountApp, 'setting-name', 'train', (rng) => {
    const state = accountWorld(rng);
    const first = state.profile.name.split(' ')[0];
    const name = `${first} ${rng.pick(['Ashdown', 'Bellweather', 'Carrick', 'Dunmore', 'Elphick'])}`;
    return {
      state,
      start: '/',
      instruction: `I have married: my display name is now ${name}. Change it in my profile.`,
      params: { name },
      goal: (after) => void (after.profile.name = name),
      oracle: `await open('Profile'); await fill('name', ${quoted(name)}); await submit('Save');`,
    };
  }),
  template(accountApp, 'setting-notices', 'test', (rng, seed) => {
    const state = accountWorld(rng);
    const [first, second] = rng.shuffle(Object.keys(NOTICES)) as (keyof typeof NOTICES)[];
    // Part of it may be so already: switches that are turned without a look are turned the wrong way.
    const way = inTurn(seed, ['both', 'first', 'second']);
    state.notices[first] = way !== 'second';
    state.notices[second] = way === 'first';
    return {
      state,
      start: '/',
      instruction: `I want no more mails about “${NOTICES[first]}”, but I do want them about “${NOTICES[second]}”. Leave the other notifications as they are.`,
      way,
      params: { off: first, on: second },
      goal: (after) => {
        after.notices[first] = false;
        after.notices[second] = true;
      },
      oracle: `await open('Notifications');
        for (const [name, wanted] of [['${first}', false], ['${second}', true]])
          if (await js((name) => document.querySelector('[name=' + name + ']').checked, { arg: name }) !== wanted) await click('[name=' + name + ']');
        await submit('Save');`,
    };
  }),
  template(accountApp, 'setting-audience', 'train', (rng) => {
    const state = accountWorld(rng);
    const names = Object.keys(AUDIENCES) as (keyof typeof AUDIENCES)[];
    const audience = pickFitting(rng, names, (one) => one !== state.audience);
    return {
      state,
      start: '/notifications',
      instruction: `Make my profile (${state.profile.name}) visible to ${AUDIENCES[audience].toLowerCase()}.`,
      params: { audience },
      goal: (after) => void (after.audience = audience),
      oracle: `await open('Privacy'); await click('[value=${audience}]'); await submit('Save');`,
    };
  }),
  template(accountApp, 'dialog-confirm', 'train', (rng) => {
    const state = accountWorld(rng);
    const { id, name } = rng.pick(state.devices);
    return {
      state,
      start: '/',
      instruction: `I have lost a device: “${name}”. Sign my account out of it, and of no other.`,
      params: { name },
      goal: (after) => void (after.devices = after.devices.filter((one) => one.id !== id)),
      oracle: `await open('Devices'); await leave(async () => { await press('button', ${quoted(`Sign out of ${name}`)}); await answerDialog(true); });`,
    };
  }),
  template(accountApp, 'dialog-prompt', 'test', (rng) => {
    const state = accountWorld(rng);
    const { id, name } = rng.pick(state.devices);
    const next = `${rng.pick(['Red', 'Blue', 'Spare', 'Second'])} ${rng.pick(['reader', 'handset', 'console', 'terminal'])}`;
    return {
      state,
      start: '/devices',
      instruction: `Rename the device “${name}” to “${next}”.`,
      params: { name, next },
      goal: (after) => void (after.devices.find((one) => one.id === id)!.name = next),
      oracle: `await leave(async () => { await press('button', ${quoted(`Rename ${name}`)}); await answerDialog(true, ${quoted(next)}); });`,
    };
  }),
  template(accountApp, 'dialog-typed', 'train', (rng) => {
    const state = accountWorld(rng);
    const { id, name } = rng.pick(state.keys);
    return {
      state,
      start: '/',
      instruction: `Delete the access key “${name}” for good. Programs no longer use it.`,
      params: { name },
      goal: (after) => void (after.keys = after.keys.filter((one) => one.id !== id)),
      oracle: `await open('Access keys'); await press('button', ${quoted(`Delete ${name}`)}); await fill('typed', ${quoted(name)}); await submit('Delete for good');`,
    };
  }),
];
