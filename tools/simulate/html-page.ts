/** The frame of an HTML page that loads no other files, and follows the system's light or dark mode. Pure. */
import { escaped } from './chart.ts';

export interface HtmlPage {
  readonly title: string;
  /** HTML. */
  readonly main: string;
  /** Rules beside those of every page, also within `@media`. */
  readonly style: string;
}

export const htmlPage = ({ title, main, style }: HtmlPage): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>
:root{color-scheme:light dark}
body{margin:0;background:#ffffff;color:#1f2328;font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 16px}
h1{font-size:22px} h2{font-size:17px}
@media (prefers-color-scheme: dark){body{background:#0d1117;color:#e6edf3}}
${style}
</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
