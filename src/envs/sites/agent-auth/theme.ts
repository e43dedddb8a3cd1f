// How a site looks: fonts, colours, spacing, where things stand. Pure, by seed.

import type { Rng } from '../../../util/index.ts';
import { raw, type Html } from '../html.ts';

export type Layout = 'top' | 'centred' | 'side' | 'banner' | 'portal';

export type Theme = {
  readonly layout: Layout;
  readonly font: string;
  readonly background: string;
  readonly surface: string;
  readonly ink: string;
  readonly accent: string;
  readonly onAccent: string;
  /** Pixels. */
  readonly radius: number;
  readonly space: number;
  readonly size: number;
  readonly width: number;
  readonly border: string;
  readonly shout: boolean;
};

const FONTS = [
  'system-ui, sans-serif',
  'Georgia, serif',
  '"DejaVu Sans", Verdana, sans-serif',
  '"Liberation Sans", Arial, sans-serif',
  '"Liberation Serif", "Times New Roman", serif',
  '"DejaVu Sans Mono", monospace',
];
/** Background, surface, ink, accent, ink on the accent. */
const PALETTES = [
  ['#f4f5f7', '#ffffff', '#1f2933', '#2457c5', '#ffffff'],
  ['#fffaf0', '#ffffff', '#3b2f2f', '#a8431f', '#ffffff'],
  ['#10151c', '#1b232e', '#e6ebf2', '#5ec8a8', '#06241b'],
  ['#eef6ee', '#fbfffb', '#17331f', '#2c7a3f', '#ffffff'],
  ['#fdf2f6', '#ffffff', '#3a1527', '#b1286b', '#ffffff'],
  ['#ffffff', '#f2f2f2', '#111111', '#111111', '#ffffff'],
  ['#1d1433', '#2a1f47', '#efe9ff', '#ffb84d', '#2a1a00'],
  ['#e9eef2', '#ffffff', '#22313f', '#0b7285', '#ffffff'],
] as const;

export function chooseTheme(rng: Rng): Theme {
  const [background, surface, ink, accent, onAccent] = rng.pick(PALETTES);
  return {
    layout: rng.pick(['top', 'top', 'centred', 'side', 'banner', 'portal'] as const),
    font: rng.pick(FONTS),
    background,
    surface,
    ink,
    accent,
    onAccent,
    radius: rng.pick([0, 2, 6, 12, 22]),
    space: rng.pick([8, 12, 16, 20]),
    size: rng.pick([14, 15, 16, 18]),
    width: rng.pick([380, 440, 520, 640]),
    border: rng.pick(['1px solid', '2px solid', '0 solid', '1px dashed']),
    shout: rng.next() < 0.25,
  };
}

/** One style sheet for every part of a site; parts that are fetched bring it along where they are shut off. */
export function styleOf(theme: Theme): Html {
  const { layout, font, background, surface, ink, accent, onAccent, radius, space, size, width, border, shout } = theme;
  const line = `${border} ${ink}33`;
  return raw(`
*{box-sizing:border-box}
body{margin:0;font:${size}px/1.5 ${font};background:${background};color:${ink};${layout === 'side' ? 'display:grid;grid-template-columns:230px 1fr' : ''}}
a{color:${accent}} h1,h2{line-height:1.2;${shout ? 'text-transform:uppercase;letter-spacing:1px' : ''}}
header{display:flex;flex-wrap:wrap;gap:${space}px;align-items:center;padding:${space}px;background:${surface};border-bottom:${line};${HEADER[layout]}}
header .brand{font-weight:bold;font-size:1.3em;text-decoration:none;color:${ink};${layout === 'centred' ? '' : 'margin-inline-end:auto'}}
nav{display:flex;flex-wrap:wrap;gap:${space}px;${layout === 'side' ? 'flex-direction:column' : ''}}
main{flex:1;max-width:1000px;margin:0 auto;padding:${space * 2}px;${layout === 'portal' ? 'display:grid;grid-template-columns:2fr 1fr;gap:24px' : ''}}
footer{padding:${space}px;border-top:${line};display:flex;flex-wrap:wrap;gap:${space}px;${layout === 'side' ? 'grid-column:2' : ''}}
button,.button{font:inherit;padding:${space / 2}px ${space}px;background:${accent};color:${onAccent};border:0;border-radius:${radius}px;cursor:pointer;text-decoration:none;display:inline-block}
.card{background:${surface};border:${line};border-radius:${radius}px;padding:${space * 1.5}px;max-width:${width}px;margin:${space}px ${layout === 'centred' ? 'auto' : '0'}}
.row{margin:${space}px 0} .row label{display:block} .row .tick{display:flex;gap:8px;align-items:center}
input,select,textarea{font:inherit;padding:${space / 2}px;border:1px solid ${ink}66;border-radius:${radius / 2}px;background:${background};color:${ink}}
input:not([type=checkbox],[type=radio]),select{width:100%}
fieldset{border:${line};border-radius:${radius}px;margin:${space}px 0} fieldset select{width:auto}
.panel{position:absolute;background:${surface};border:1px solid ${ink}55;padding:${space}px;z-index:5;border-radius:${radius}px}
.panel a,.panel button{display:block;margin:6px 0} [hidden]{display:none!important}
dialog{border:1px solid ${ink}55;border-radius:${radius}px;background:${surface};color:${ink};max-width:90vw}
.veil{position:fixed;inset:0;background:#000a;z-index:20;display:flex;align-items:center;justify-content:center}
.twins{display:grid;grid-template-columns:1fr 1fr;gap:${space}px} iframe{border:0;width:100%;height:900px}
.far{position:absolute;left:-9999px;top:0}
`);
}

const HEADER: Readonly<Record<Layout, string>> = {
  top: '',
  centred: 'flex-direction:column',
  side: 'flex-direction:column;align-items:flex-start;width:220px;min-height:100vh',
  banner: 'padding-top:40px;padding-bottom:40px',
  portal: 'font-size:.9em',
};
