// Questions to the county's pages.

import { quoted } from '../kit/oracle-cell.ts';
import { pickFitting, template, type Template } from '../kit/template.ts';
import { countyApp } from './county-app.ts';
import { countyWorld, DAYS, SCHOOL_TYPES, YEARS } from './county-world.ts';

export const COUNTY_TASKS: readonly Template[] = [
  template(countyApp, 'table-cell', 'train', (rng) => {
    const state = countyWorld(rng);
    const [{ name, population }, year] = [rng.pick(state.districts), rng.integer(0, YEARS.length)];
    return {
      state,
      start: '/',
      instruction: `How many people lived in ${name} in ${YEARS[year]}, according to Harrow County Data? Answer with the number only.`,
      params: { name, year: YEARS[year] },
      answer: { kind: 'number', value: population[year] },
      oracle: `await open('Population'); repl.write((await rows()).find(([name]) => name === ${quoted(name)})[${year + 1}]);`,
    };
  }),
  template(countyApp, 'table-extreme', 'train', (rng) => {
    const state = countyWorld(rng);
    const [column, words, value] = rng.pick([
      [1, 'area', 'areaKm2'],
      [2, 'number of parks', 'parks'],
      [3, 'rainfall', 'rainfallMm'],
    ] as const);
    const most = rng.pick([true, false]);
    const sorted = [...state.districts].sort((a, b) => (most ? b[value] - a[value] : a[value] - b[value]));
    const place = rng.integer(0, 3);
    const rank = [
      most ? 'largest' : 'smallest',
      most ? 'second largest' : 'second smallest',
      most ? 'third largest' : 'third smallest',
    ][place];
    return {
      state,
      start: '/indicators',
      instruction: `Which district has the ${rank} ${words}? Answer with the district's name only.`,
      params: { column, most, place },
      answer: { kind: 'text', value: sorted[place].name },
      oracle: `const header = 'thead th:nth-child(${column + 1}) button'; await click(header); ${most ? 'await click(header);' : ''}
        repl.write((await rows())[${place}][0]);`,
    };
  }),
  template(countyApp, 'table-pages', 'test', (rng) => {
    const state = countyWorld(rng);
    const district = rng.pick(state.schools).district;
    const limit = rng.integer(3, 8) * 100;
    const value = state.schools.filter((one) => one.district === district && one.pupils > limit).length;
    return {
      state,
      start: '/schools',
      instruction: `How many schools in the district of ${district} have more than ${limit} pupils? The list has several pages. Answer with the number only.`,
      params: { district, limit },
      answer: { kind: 'number', value },
      oracle: `await set('district', ${quoted(district)}); await submit('Show'); let count = 0;
        for (;;) {
          count += (await rows()).filter((row) => Number(row[3]) > ${limit}).length;
          if (!(await accessibilitySnapshot()).nodes.some(({ role, name }) => role === 'link' && name === 'Next')) break;
          await open('Next');
        }
        repl.write(count);`,
    };
  }),
  template(countyApp, 'table-filter', 'train', (rng) => {
    const state = countyWorld(rng);
    const type = rng.pick(SCHOOL_TYPES);
    const { district } = pickFitting(rng, state.schools, (one) => one.type === type);
    const found = state.schools.filter((one) => one.district === district && one.type === type);
    const largest = found.reduce((most, one) => (one.pupils > most.pupils ? one : most));
    return {
      state,
      start: '/schools',
      instruction: `Which ${type.toLowerCase()} school in ${district} has the most pupils? Answer with the school's name only.`,
      params: { district, type },
      answer: { kind: 'text', value: largest.name },
      oracle: `await set('district', ${quoted(district)}); await set('type', '${type}'); await submit('Show');
        repl.write((await rows()).sort((a, b) => b[3] - a[3])[0][0]);`,
    };
  }),
  template(countyApp, 'unfold-hours', 'train', (rng) => {
    const state = countyWorld(rng);
    const [{ name, closes }, day] = [rng.pick(state.libraries), rng.integer(0, DAYS.length)];
    return {
      state,
      start: '/',
      instruction: `When does ${name} close on ${DAYS[day]}s? Answer with the time only.`,
      params: { name, day: DAYS[day] },
      answer: { kind: 'time', value: closes[day] },
      oracle: `await open('Libraries'); await click('section[aria-label="${name}"] summary');
        await waitForElement('section[aria-label="${name}"] li');
        repl.write((await js((at) => document.querySelectorAll('section[aria-label="' + at[0] + '"] li')[at[1]].innerText, { arg: [${quoted(name)}, ${day}] })).split(' to ')[1]);`,
    };
  }),
  template(countyApp, 'tab-contact', 'test', (rng) => {
    const state = countyWorld(rng);
    const [{ name, manager, phone }, what] = [rng.pick(state.libraries), rng.pick(['manager', 'phone'] as const)];
    const question = what === 'manager' ? 'Who is the manager of' : 'What is the telephone number of';
    return {
      state,
      start: '/',
      instruction: `${question} ${name}? Answer with the ${what === 'manager' ? 'name' : 'number as it is written'} only.`,
      params: { name, what },
      answer: { kind: 'text', value: what === 'manager' ? manager : phone },
      oracle: `await open('Libraries'); await open(${quoted(name)}); await press('tab', 'Contact');
        await waitForElement('#${what}'); repl.write(await read('#${what}'));`,
    };
  }),
  template(countyApp, 'frame-platform', 'train', (rng) => {
    const state = countyWorld(rng);
    const { time, to, platform } = rng.pick(state.departures);
    return {
      state,
      start: '/',
      instruction: `From which platform does the ${time} train to ${to} leave? Answer with the number only.`,
      params: { time, to },
      answer: { kind: 'number', value: platform },
      oracle: `await open('Stations');
        repl.write(await until('the frame', () => js((time) => [...document.querySelector('iframe').contentDocument.querySelectorAll('tbody tr')].find((row) => row.cells[0].innerText === time).cells[2].innerText, { arg: '${time}' })));`,
    };
  }),
  template(countyApp, 'dialog-record', 'train', (rng) => {
    const state = countyWorld(rng);
    const { title, reference } = rng.pick(state.records);
    return {
      state,
      start: '/',
      instruction: `What is the reference of the record “${title}”? Answer with the reference only.`,
      params: { title },
      answer: { kind: 'text', value: reference },
      oracle: `await open('Records'); await press('button', ${quoted(`Show ${title}`)});
        await waitForElement('#reference'); repl.write(await read('#reference'));`,
    };
  }),
];
