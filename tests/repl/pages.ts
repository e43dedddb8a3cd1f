// What the pages of the tests hold, by path.

type Page = (port: number) => string;

const html = (title: string, body: string): string => `<!doctype html><title>${title}</title><body>${body}</body>`;

/** Writes what happens into `log`, which tests read back. */
const LOG = `<script>
  var log = [];
  var note = (text) => log.push(text);
</script>`;

export const PAGES: Readonly<Record<string, Page>> = {
  plain: () => html('Plain', '<h1>Hello</h1><p>Text</p>'),
  second: () => html('Second', '<h1>Another page</h1>'),

  // One visible button among hidden twins.
  'hidden-duplicates': () =>
    html(
      'Hidden duplicates',
      `${LOG}<button class=go style="display:none" onclick="note('none')">Go</button>
      <button class=go style="visibility:hidden" onclick="note('hidden')">Go</button>
      <div style="height:0;overflow:hidden"></div>
      <button class=go onclick="note('visible ' + event.isTrusted)" ondblclick="note('double')" onauxclick="note('aux ' + event.button)" oncontextmenu="note('menu'); return false">Go</button>`,
    ),
  'several-visible': () => html('Several', '<button class=go>One</button><button class=go>Two</button>'),
  covered: () =>
    html(
      'Covered',
      `${LOG}<button id=under onclick="note('under')" style="position:absolute;left:20px;top:20px;width:100px;height:40px">Under</button>
      <div id=cover style="position:absolute;left:0;top:0;width:300px;height:200px;background:#eee"></div>
      <button id=out style="position:fixed;left:-500px;top:0">Out</button>
      <label id=label style="position:absolute;top:300px"><span id=inner onclick="note('inner')">Deep</span></label>`,
    ),
  moving: () =>
    html(
      'Moving',
      `${LOG}<button id=move onclick="note('caught')" style="position:absolute;top:50px">Catch me</button>
      <script>
        var stopped = false, started = performance.now();
        (function step() {
          if (stopped) return;
          move.style.left = 100 + 80 * Math.sin(performance.now() / 50) + 'px';
          requestAnimationFrame(step);
        })();
      </script>`,
    ),
  disabled: () =>
    html(
      'Disabled',
      `${LOG}<button id=native disabled onclick="note('native')">Native</button>
      <button id=aria aria-disabled=true onclick="note('aria')">Aria</button>
      <fieldset disabled><input id=field></fieldset>
      <button id=enable onclick="native.disabled = false">Enable</button>`,
    ),
  far: () =>
    html(
      'Far',
      `${LOG}<div style="height:4000px"></div><button id=far onclick="note('far')">Far below</button><div style="height:2000px"></div>`,
    ),

  dialogs: () =>
    html(
      'Dialogs',
      `${LOG}<button id=alert onclick="alert('Careful'); note('alerted')">Alert</button>
      <button id=confirm onclick="note('confirm ' + confirm('Sure?'))">Confirm</button>
      <button id=prompt onclick="note('prompt ' + prompt('Name?', 'nobody'))">Prompt</button>
      <button id=guard onclick="window.addEventListener('beforeunload', (event) => event.preventDefault())">Guard</button>
      <input id=key onkeydown="if (event.key === 'Enter') note('enter ' + confirm('Send?'))">`,
    ),
  tabs: () =>
    html(
      'Tabs',
      `<a id=blank href="/second" target=_blank>New tab</a>
      <button id=opener onclick="window.open('/second')">Open</button>
      <button id=closer onclick="window.close()">Close</button>`,
    ),

  frames: (port) =>
    html(
      'Frames',
      `<h1>Outside</h1><div style="height:120px"></div>
      <iframe id=same src="/frame?same" style="width:320px;height:160px"></iframe>
      <iframe id=other src="http://localhost:${port}/frame?other" style="width:320px;height:160px"></iframe>`,
    ),
  frame: () =>
    html(
      'Frame',
      `${LOG}<div style="height:30px"></div><input id=secret type=password aria-label="Password"><button id=inside onclick="note('inside'); document.title = 'Clicked'">Inside</button>`,
    ),
  'covered-frame': () =>
    html(
      'Covered frame',
      `<iframe id=same src="/frame" style="position:absolute;left:30px;top:30px;width:300px;height:150px"></iframe>
      <div style="position:absolute;left:0;top:0;width:600px;height:400px;background:#eee"></div>`,
    ),
  shadow: () =>
    html(
      'Shadow',
      `${LOG}<div id=host></div><script>
        const root = host.attachShadow({ mode: 'closed' });
        root.innerHTML = '<button>Closed</button><input aria-label="Closed field">';
        root.querySelector('button').onclick = () => note('closed');
        root.querySelector('input').oninput = (event) => (window.typed = event.target.value);
      </script>`,
    ),

  selects: () =>
    html(
      'Selects',
      `${LOG}<select id=native onchange="note('native ' + value)"><option value=a>Apple</option><option value=b>Pear</option></select>
      <div id=fake role=combobox tabindex=0 aria-expanded=false onclick="list.hidden = false; this.setAttribute('aria-expanded', 'true')">Choose</div>
      <ul id=list role=listbox hidden><li role=option onclick="note('fake apple'); list.hidden = true">Apple</li><li role=option>Pear</li></ul>`,
    ),
  fields: () =>
    html(
      'Fields',
      `${LOG}<input id=line value="old text" oninput="note('input')" onchange="note('change')" onkeydown="note('down ' + event.key)" onkeypress="note('press ' + event.key)" onkeyup="note('up ' + event.key)">
      <textarea id=area></textarea><div id=editable contenteditable>before</div>
      <input id=readonly readonly value=fixed><input id=check type=checkbox><input id=file type=file multiple onchange="note('files ' + [...files].map((file) => file.name + ':' + file.size))">
      <input id=late style="display:none"><script>setTimeout(() => (late.style.display = ''), 300)</script>`,
    ),
  // An editor with a document of its own: what does not come from a key is thrown away.
  editor: () =>
    html(
      'Editor',
      `<div id=editor contenteditable role=textbox aria-label=Editor></div><script>
        var model = '';
        const draw = () => (editor.textContent = model);
        editor.addEventListener('keydown', (event) => {
          if (event.ctrlKey || event.metaKey) return;
          if (event.key === 'Backspace') model = getSelection().toString() === model ? '' : model.slice(0, -1);
          else if (event.key.length === 1) model += event.key;
          else return;
          event.preventDefault();
          draw();
        });
        editor.addEventListener('beforeinput', (event) => event.preventDefault());
        editor.addEventListener('input', draw);
      </script>`,
    ),
  keys: () =>
    html(
      'Keys',
      `<input id=field autofocus><script>
        var keys = [];
        for (const type of ['keydown', 'keypress', 'keyup']) {
          addEventListener(type, (event) => {
            const { key, code, keyCode, location, altKey, ctrlKey, metaKey, shiftKey } = event;
            keys.push({ type, key, code, keyCode, location, held: [altKey, ctrlKey, metaKey, shiftKey].map(Number).join('') });
          });
        }
      </script>`,
    ),
  states: () =>
    html(
      'States',
      `<h1>  Two   spaces </h1>
      <input type=checkbox checked aria-label=On><input type=checkbox aria-label=Off>
      <div role=checkbox aria-checked=mixed tabindex=0>Half</div>
      <button aria-pressed=mixed>Pressed</button><button aria-expanded=false>More</button><button disabled>No</button>
      <div role=tablist><div role=tab aria-selected=true tabindex=0>Tab</div></div>
      <input aria-label=City value=Kyoto><p aria-hidden=true>Hidden</p>
      <iframe src="/frame"></iframe>`,
    ),
  scrolling: () => html('Scrolling', `<div style="width:3000px;height:3000px"></div>`),
  late: () =>
    html(
      'Late',
      `<div id=gone>Gone soon</div><p class=hit style="display:none">hidden twin</p><script>
        const change = () => setTimeout(() => { gone.remove(); document.body.insertAdjacentHTML('beforeend', '<p class=hit>there</p>'); }, 250);
      </script>`,
    ),
  network: () => html('Network', `<script>fetch('/never'); </script>`),
  'short-network': () =>
    html(
      'Short network',
      `<script>var count = 0; (function next() { if (count++ < 5) fetch('/echo?' + count).then((answer) => answer.text()).then(() => setTimeout(next, 60)); })();</script>`,
    ),

  many: () =>
    html(
      'Many',
      `<div id=all></div><script>
        const parts = [];
        for (let index = 0; index < 20000; index++) parts.push('<span>n' + index + '</span>');
        all.innerHTML = parts.join('');
      </script><button id=last onclick="document.title = 'Clicked'">Last</button>`,
    ),
  deep: () =>
    html(
      'Deep',
      `<script>
        let at = document.body;
        for (let index = 0; index < 5000; index++) at = at.appendChild(document.createElement('span'));
        at.innerHTML = '<button id=bottom onclick="document.title = String(1)">Bottom</button>';
      </script>`,
    ),
  // Boxes this deep are more than Chromium's layout survives: the renderer dies.
  'deep-boxes': () =>
    html(
      'Deep boxes',
      `<button id=dig onclick="
        let at = document.body;
        for (let index = 0; index < 5000; index++) at = at.appendChild(document.createElement('div'));
      ">Dig</button>`,
    ),
  spin: () => html('Spin', `<button id=go>Go</button><script>setTimeout(() => { for (;;); }, 300)</script>`),
  leaving: () =>
    html('Leaving', `<script>const leave = () => setTimeout(() => (location.href = '/second'), 100)</script>`),
  download: () => html('Download', '<a id=save href="/report.csv">Save</a>'),

  tools: () =>
    html(
      'Tools',
      `<form toolname=subscribe tooldescription="Subscribes an address"><input name=email><button>Send</button></form>
      <script>
        document.modelContext?.registerTool({
          name: 'add',
          description: 'Adds one',
          inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
          annotations: { readOnlyHint: true },
          execute: async ({ a }) => {
            if (a === 13) throw new Error('unlucky');
            if (a === 0) await new Promise(() => {});
            return { sum: a + 1 };
          },
        });
      </script>`,
    ),
};
