// Colours as an agent reads them: the word that a page or a person would use where there is one, else `#rrggbb`.

const WORDS: Readonly<Record<string, string>> = {
  '0,0,0': 'black',
  '255,255,255': 'white',
  '255,0,0': 'red',
  '0,128,0': 'green',
  '0,255,0': 'lime',
  '0,0,255': 'blue',
  '255,255,0': 'yellow',
  '0,255,255': 'cyan',
  '255,0,255': 'magenta',
  '128,128,128': 'grey',
  '128,128,0': 'olive',
  '128,0,128': 'purple',
  '255,165,0': 'orange',
  '255,192,203': 'pink',
};

/** Of a computed style such as `rgb(255, 0, 0)`; undefined for what cannot be seen. */
export function colourName(style: string | undefined): string | undefined {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(style ?? '');
  if (parts === null || parts[4] === '0') return undefined;
  const channels = parts.slice(1, 4).map(Number);
  return WORDS[channels.join(',')] ?? `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
