/** An HTML page with a simulation's pictures and figures. */

import { DARK_STYLE, escaped } from './chart.ts';
import { htmlPage } from './html-page.ts';

/** @param pictures SVG @param text text output, as on the terminal */
export const pageOf = (title: string, pictures: readonly string[], text: string): string =>
  htmlPage({
    title,
    style: STYLE,
    main: `<h1>${escaped(title)}</h1>
${pictures.map((each) => `<figure>${each}</figure>`).join('\n')}
<h2>Figures</h2>
<pre tabindex="0">${escaped(text)}</pre>`,
  });

const STYLE = `figure{margin:0 0 16px;overflow-x:auto} svg{max-width:100%;height:auto}
pre{overflow-x:auto;font-size:13px;line-height:1.45}
@media (prefers-color-scheme: dark){${DARK_STYLE}}`;
