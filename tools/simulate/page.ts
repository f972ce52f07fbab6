/** An HTML page with a simulation's pictures and figures. It loads no other files, and follows the system's light or dark mode. */
import { DARK_STYLE, escaped } from './chart.ts';

/** @param pictures SVG @param text text output, as on the terminal */
export const pageOf = (title: string, pictures: readonly string[], text: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${pictures.map((each) => `<figure>${each}</figure>`).join('\n')}
<h2>Figures</h2>
<pre tabindex="0">${escaped(text)}</pre>
</main>
<style>
:root{color-scheme:light dark}
body{margin:0;background:#ffffff;color:#1f2328;font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 16px}
h1{font-size:22px} h2{font-size:17px} figure{margin:0 0 16px;overflow-x:auto} svg{max-width:100%;height:auto}
pre{overflow-x:auto;font-size:13px;line-height:1.45}
@media (prefers-color-scheme: dark){body{background:#0d1117;color:#e6edf3} ${DARK_STYLE}}
</style>
</body>
</html>
`;
