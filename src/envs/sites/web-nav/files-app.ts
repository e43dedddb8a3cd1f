// The storage service's pages: folders, a file with its versions, downloads, uploads, a menu to rename and move.

import { markup } from '../html.ts';
import { htmlReply, notFound, redirect, type SiteReply } from '../site.ts';
import { badRequest, routes, sendFile, type App } from '../kit/app.ts';
import { layout, options, type PageParts } from '../kit/layout.ts';
import { FOLDERS, type FilesState } from './files-world.ts';

const LOOK = {
  site: 'Paperbox',
  accent: '#3c3f8f',
  links: [
    ['/', 'Folders'],
    ['/upload', 'Upload'],
    ['/downloads', 'Recent downloads'],
  ],
} as const;

function send(parts: PageParts): SiteReply {
  return htmlReply(layout(LOOK, parts));
}

export const filesApp: App<FilesState> = {
  host: 'files.paperbox.test',
  respond: routes<FilesState>({
    'GET /': ({ files }) =>
      send({
        title: 'Folders',
        body: markup`<ul class="cards">${FOLDERS.map((name) => markup`<li><a href="/folder/${name}">${name}</a> <span class="muted">${files.filter((file) => file.folder === name).length} files</span></li>`)}</ul>`,
      }),
    'GET /folder/:name': ({ files }, { at }) => {
      if (!FOLDERS.includes(at.name)) return notFound();
      const found = files.filter((file) => file.folder === at.name).sort((a, b) => (a.name < b.name ? -1 : 1));
      return send({
        title: at.name,
        body: markup`<table><thead><tr><th>Name</th><th>Changed</th></tr></thead><tbody>
${found.map(({ id, name, versions }) => markup`<tr><td><a href="/file/${id}">${name}</a></td><td>${versions.at(-1)!.day}</td></tr>\n`)}</tbody></table>`,
      });
    },
    'GET /file/:id': ({ files }, { at }) => {
      const file = files.find(({ id }) => id === at.id);
      if (file === undefined) return notFound();
      const { id, name, folder, versions } = file;
      return send({
        title: name,
        body: markup`<p>In <a href="/folder/${folder}">${folder}</a></p>
<table><caption>Versions</caption><thead><tr><th>Version</th><th>Saved</th><th>File</th></tr></thead><tbody>
${versions.map((one, i) => markup`<tr><td>${i + 1}</td><td>${one.day}</td><td><a href="/file/${id}/${one.id}" download="${name}" aria-label="Download version ${i + 1}">Download</a></td></tr>\n`)}</tbody></table>
<details><summary>More</summary>
<form method="post" action="/file/${id}"><p><label for="name">Name</label> <input id="name" name="name" value="${name}" required></p>
<p><label for="folder">Folder</label> <select id="folder" name="folder">${options(FOLDERS, folder)}</select></p><button>Save</button></form></details>`,
      });
    },
    'POST /file/:id': ({ files }, { at, form }) => {
      const file = files.find(({ id }) => id === at.id);
      if (file === undefined) return notFound();
      const [name, folder] = [(form.get('name') ?? '').trim(), form.get('folder') ?? ''];
      if (name === '' || !FOLDERS.includes(folder)) return badRequest('A file needs a name and a folder.');
      Object.assign(file, { name, folder });
      return redirect(`/file/${file.id}`);
    },
    'GET /file/:id/:version': (state, { at }) => {
      const file = state.files.find(({ id }) => id === at.id);
      const version = file?.versions.find(({ id }) => id === at.version);
      if (file === undefined || version === undefined) return notFound();
      const id = `${file.id}/${version.id}`;
      if (!state.downloads.some((one) => one.id === id)) state.downloads.push({ id });
      return sendFile({
        name: file.name,
        type: file.name.endsWith('.csv') ? 'text/csv' : 'text/plain',
        text: version.text,
      });
    },
    'GET /downloads': ({ downloads, files }) =>
      send({
        title: 'Recent downloads',
        body: markup`<ul>${downloads.map(({ id }) => markup`<li>${files.find((file) => file.id === id.split('/')[0])!.name}</li>`)}</ul>`,
      }),
    'GET /upload': ({ uploads }) =>
      send({
        title: 'Upload',
        body: markup`<form method="post" action="/upload" enctype="multipart/form-data">
<p><label for="file">File</label> <input id="file" name="file" type="file" required></p><button>Upload</button></form>
<h2>Uploaded</h2><ul>${uploads.map(({ name }) => markup`<li>${name}</li>`)}</ul>`,
      }),
    'POST /upload': (state, { files }) => {
      const file = files.get('file');
      if (file === undefined) return badRequest('Choose a file first.');
      state.uploads.push({ id: `u${state.uploads.length + 1}`, name: file.name, text: file.text });
      return redirect('/upload');
    },
  }),
};
