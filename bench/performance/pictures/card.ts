/** The shared parts of the pictures: a card, so that they are readable on dark pages, and a colour for each way. */
import { VARIANTS } from '../variants.ts';

export const WIDTH = 1_120;

/** Colours in the order of {@link VARIANTS}. */
export const COLOURS = ['#0969da', '#cf222e', '#9a6700', '#1a7f37', '#8250df'] as const;

const STYLE = `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.t{font-size:15px;font-weight:600} .l{font-size:12px;fill:#57606a} .y{text-anchor:end} .x{text-anchor:middle}
.g{stroke:#d0d7de;stroke-width:1} .w{fill:none;stroke-width:2.5}`;

/** @param left the position of the legend */
export const card = (height: number, alt: string, left: number, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${alt}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect x="0" y="0" width="${WIDTH}" height="${height}" rx="12" fill="#ffffff"/>`,
    ...VARIANTS.map(({ name }, index) => legend(name, left + index * 170, COLOURS[index] ?? '')),
    ...parts,
    '</svg>\n',
  ].join('\n');

const legend = (name: string, x: number, colour: string): string =>
  `<rect x="${x}" y="22" width="12" height="12" fill="${colour}"/><text x="${x + 18}" y="33" class="t">${name}</text>`;
