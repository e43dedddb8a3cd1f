// Downloads (by the server's account of what it served), uploads, and order among files.

import { quoted } from '../kit/oracle-cell.ts';
import { pickFitting, template, type Template } from '../kit/template.ts';
import { filesApp } from './files-app.ts';
import { filesWorld, FOLDERS } from './files-world.ts';

/** A download is there when its server has sent it: the page does not show it. */
const DOWNLOAD = (version: number): string => `await save('Download version ${version}');
  await until('the download', () => js("fetch('/downloads').then((answer) => answer.text()).then((text) => text.includes('<li>'))"));`;
const words = (name: string): string => name.replace(/\.\w+$/, '');

export const FILES_TASKS: readonly Template[] = [
  template(filesApp, 'download-invoice', 'train', (rng) => {
    const state = filesWorld(rng);
    const { id, name } = pickFitting(rng, state.files, ({ folder }) => folder === 'Invoices');
    return {
      state,
      start: '/',
      instruction: `Download the invoice “${words(name)}”, and no other file.`,
      params: { name },
      goal: (after) => void after.downloads.push({ id: `${id}/v1` }),
      oracle: `await open('Invoices'); await open(${quoted(name)}); ${DOWNLOAD(1)}`,
    };
  }),
  template(filesApp, 'download-version', 'test', (rng) => {
    const state = filesWorld(rng);
    const { id, name, versions } = pickFitting(rng, state.files, ({ folder }) => folder === 'Documents');
    const which = rng.integer(0, versions.length - 1);
    return {
      state,
      start: '/',
      instruction: `Download the version of “${words(name)}” that was saved on ${versions[which].day}.`,
      params: { name, day: versions[which].day },
      goal: (after) => void after.downloads.push({ id: `${id}/v${which + 1}` }),
      oracle: `await open('Documents'); await open(${quoted(name)}); ${DOWNLOAD(which + 1)}`,
    };
  }),
  template(filesApp, 'download-total', 'train', (rng) => {
    const state = filesWorld(rng);
    const { id, name, versions } = pickFitting(rng, state.files, ({ folder }) => folder === 'Tables');
    const amounts = versions[0].text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => Number(line.split(',')[1]));
    return {
      state,
      start: '/',
      instruction: `Download the table “${words(name)}” and tell me the sum of its amounts. Answer with the number only.`,
      params: { name },
      answer: { kind: 'number', value: amounts.reduce((sum, one) => sum + one, 0) },
      goal: (after) => void after.downloads.push({ id: `${id}/v1` }),
      oracle: `await open('Tables'); await open(${quoted(name)}); ${DOWNLOAD(1)}
        const text = await js("fetch(document.querySelector('a[download]').href).then((answer) => answer.text())");
        repl.write(text.trim().split('\\n').slice(1).reduce((sum, line) => sum + Number(line.split(',')[1]), 0));`,
    };
  }),
  template(filesApp, 'upload-note', 'train', (rng) => {
    const state = filesWorld(rng);
    const name = `${rng.pick(['note', 'list', 'memo'])}-${rng.integer(10, 100)}.txt`;
    const text = `Bring ${rng.pick(['the ladder', 'two lamps', 'old towels'])} on ${rng.pick(['Monday', 'Friday', 'Sunday'])}`;
    return {
      state,
      start: '/',
      instruction: `Upload a text file named “${name}” that holds this one line: ${text}`,
      params: { name, text },
      goal: (after) => void after.uploads.push({ id: 'u1', name, text }),
      oracle: `await open('Upload'); await attach('file', '${name}', ${quoted(text)}); await submit('Upload');`,
    };
  }),
  template(filesApp, 'file-move', 'train', (rng) => {
    const state = filesWorld(rng);
    const { id, name, folder } = pickFitting(rng, state.files, (file) => file.folder !== 'Old');
    const next = pickFitting(rng, FOLDERS, (one) => one !== folder);
    return {
      state,
      start: '/',
      instruction: `Move the file “${name}” from ${folder} to ${next}.`,
      params: { name, next },
      goal: (after) => void (after.files.find((file) => file.id === id)!.folder = next),
      oracle: `await open(${quoted(folder)}); await open(${quoted(name)}); await click('summary'); await set('folder', ${quoted(next)}); await submit('Save');`,
    };
  }),
];
