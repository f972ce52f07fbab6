/** The page of a run. Pure. */

import { escaped } from '../../simulate/chart.ts';
import { dollars } from '../../simulate/figures.ts';
import { htmlPage } from '../../simulate/html-page.ts';
import { PRICES } from '../../simulate/prices.ts';
import type { SuiteResult } from '../suite/run-suite.ts';
import type { Compared, Promised, Row } from './compare.ts';

export interface Report {
  readonly account: string;
  readonly region: string;
  readonly stage: string;
  /** Start and end of the run, in ISO 8601. */
  readonly from: string;
  readonly until: string;
  readonly loads: readonly Compared[];
  readonly suite: SuiteResult;
  /** What of the run still exists, and why. Empty if everything was removed. */
  readonly left: readonly string[];
}

/** Whether every promise held in complete loads, the tests passed, and everything was removed. */
export const isGood = ({ loads, suite, left }: Report): boolean =>
  loads.length > 0 &&
  loads.every(({ promises, cutShort }) => cutShort === undefined && promises.every(({ held }) => held)) &&
  suite.outcome !== 'failed' &&
  left.length === 0;

export const pageOf = (report: Report): string => {
  const { account, region, stage, from, until, loads, suite, left } = report;
  const cost = loads
    .map((each) => each.cost)
    .reduce((a, b) => (a === undefined || b === undefined ? undefined : a + b), 0);
  return htmlPage({
    title: `Groupage in ${region}`,
    style: STYLE,
    main: `<h1>Groupage in ${escaped(region)}, ${escaped(from.slice(0, 10))}</h1>
<p class="${isGood(report) ? 'good' : 'bad'}">${escaped(verdictOf(report))}</p>
<p>Stage ${escaped(stage)}, account ${escaped(account)}, from ${escaped(from)} to ${escaped(until)}.
The column Simulator has the prediction for the same tasks, sent at the same times. Its assumptions are in docs/how-to/simulate.md.
Costs are list prices of ${PRICES.region}, ${PRICES.asOf}, without free tiers${cost === undefined ? '' : `; the loads cost at most ${dollars(cost)}`}.
CloudWatch has quantiles only for single minutes: a p50 is the median of the minutes, a p99 that of the worst minute.</p>
${loads.map(sectionOf).join('\n')}
<h2>Tests for deployed stacks</h2>
<p>${escaped(suite.summary)}</p>
${suite.failures.length > 0 ? `<ul>${suite.failures.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>` : ''}
<h2>Removal</h2>
${left.length === 0 ? '<p>Everything that the run created was removed.</p>' : `<p>These still exist:</p><ul>${left.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`}`,
  });
};

const verdictOf = (report: Report): string => {
  const broken = report.loads.flatMap(({ promises }) => promises.filter(({ held }) => !held));
  if (broken.length > 0) return `${broken.length} of the promises did not hold, see below.`;
  if (report.loads.every(({ promises }) => promises.length === 0)) return 'The loads were not run, see below.';
  if (!isGood(report)) return 'Every promise held, but see below.';
  return report.suite.outcome === 'passed'
    ? 'Every promise held.'
    : 'Every promise held under load. The tests for deployed stacks were not run.';
};

const sectionOf = ({ title, cutShort, unread, promises, rows }: Compared): string => `<h2>${escaped(title)}</h2>
${[...(cutShort === undefined ? [] : [`The load ended early: ${cutShort}.`]), ...unread.map((each) => `Could not read ${each}.`)].map((each) => `<p class="bad">${escaped(each)}</p>`).join('\n')}
<table>
<thead><tr><th scope="col">Promise</th><th scope="col">AWS</th><th scope="col">Simulator</th><th scope="col">Held</th></tr></thead>
<tbody>
${promises.map(promiseRow).join('\n')}
</tbody>
</table>
<table>
<thead><tr><th scope="col">Figure</th><th scope="col">AWS</th><th scope="col">Simulator</th></tr></thead>
<tbody>
${rows.map((row) => `<tr>${cellsOf(row)}</tr>`).join('\n')}
</tbody>
</table>`;

const promiseRow = (promise: Promised): string =>
  `<tr>${cellsOf(promise)}<td class="${promise.held ? 'good' : 'bad'}">${promise.held ? 'yes' : 'no'}</td></tr>`;

const cellsOf = ({ what, aws, simulated }: Row): string =>
  `<th scope="row">${escaped(what)}</th><td>${escaped(aws)}</td><td>${escaped(simulated)}</td>`;

const STYLE = `h2{margin-top:28px} p,li{font-size:14px;line-height:1.5}
table{border-collapse:collapse;width:100%;font-size:13px;margin:8px 0 16px}
th,td{text-align:left;vertical-align:top;padding:6px 10px;border-bottom:1px solid #d0d7de}
thead th{background:#f6f8fa} tbody th{font-weight:500;width:38%}
.good{color:#1a7f37} .bad{color:#cf222e;font-weight:600}
@media (prefers-color-scheme: dark){th,td{border-color:#30363d}
thead th{background:#161b22} .good{color:#3fb950} .bad{color:#f85149}}`;
