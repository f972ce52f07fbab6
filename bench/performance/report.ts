/** The figures as tables of the documentation. */
import { type Dearer, fillOf, type Measures, whereDearer } from './measures.ts';
import type { Run } from './run.ts';
import { VARIANTS } from './variants.ts';

/** Every run of one load, beginning with that of Groupage. */
export interface Compared {
  readonly load: Run['load'];
  readonly runs: readonly Run[];
}

type Column = readonly [head: string, cell: (measures: Measures, ours: Measures) => string];

/** Formats a number with two or three significant digits. Numbers from 100 on are whole. */
export const named = (value: number): string =>
  value === 0
    ? '0'
    : value >= 100
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
const inSeconds = (millis: number): string => (millis / 1_000).toFixed(2);
const seconds = (millis: number): string => `${inSeconds(millis)} s`;
const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

/** The price of a million calls above which a way costs more in total than Groupage. */
const breakEven = (dearer: Dearer): string => {
  const price = (perCall: number): string => `$${named(perCall * 1_000_000)}`;
  if (typeof dearer === 'string') return dearer;
  return 'from' in dearer ? price(dearer.from) : `below ${price(dearer.upTo)}`;
};

/** The value, with its ratio to Groupage's value if both are above 0. */
const beside =
  (of: (measures: Measures) => number, print: (value: number) => string = named): Column[1] =>
  (measures, ours) => {
    const [value, mine] = [of(measures), of(ours)];
    return measures === ours || mine === 0 || value === 0 ? print(value) : `${print(value)} (${named(value / mine)}×)`;
  };

const COSTS: readonly Column[] = [
  ['calls', beside(({ calls }) => calls)],
  ['fill', (measures) => fillOf(measures).toFixed(2)],
  ['write units', beside(({ perTask }) => perTask.write)],
  ['read units', beside(({ perTask }) => perTask.read)],
  ['SQS requests', beside(({ perTask }) => perTask.sqsRequests)],
  ['invocations', beside(({ perTask }) => perTask.invocations)],
  ['function time', ({ perTask }, ours) => `${named(perTask.lambdaMillis / ours.perTask.lambdaMillis)}×`],
  ['price', beside(({ perMillion }) => perMillion, dollars)],
  ['break-even', (measures, ours) => (measures === ours ? '' : breakEven(whereDearer(measures, ours)))],
];

const WAITS: readonly Column[] = [
  ['wait p50', ({ waits }) => seconds(waits.p50)],
  ['wait p99', ({ waits }) => seconds(waits.p99)],
  ['longest wait', ({ waits }) => seconds(waits.max)],
  ['late p50', ({ late }) => seconds(late.p50)],
  ['late p99', ({ late }) => seconds(late.p99)],
  ['latest', ({ late }) => seconds(late.max)],
  ['lost', ({ lost }) => named(lost)],
  ['duplicated', ({ twice }) => named(twice)],
  ['empty receives', ({ emptyReceives }) => named(emptyReceives)],
];

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const table = (columns: readonly Column[], { runs }: Compared): string => {
  const ours = runs[0]?.measures as Measures;
  const lines = runs.map(({ variant, measures }) => [
    variant === VARIANTS[0] ? `**${variant.name}**` : variant.name,
    ...columns.map(([, cell]) => cell(measures, ours)),
  ]);
  return [row(['', ...columns.map(([head]) => head)]), `|---|${'--:|'.repeat(columns.length)}`, ...lines.map(row)].join(
    '\n',
  );
};

/** The columns of the page: the measures that readers need for a decision. */
const OF_THE_PAGE: readonly Column[] = [
  ['calls', ({ calls }) => named(calls)],
  ['price', ({ perMillion }) => dollars(perMillion)],
  ['break-even', (measures, ours) => (measures === ours ? '' : breakEven(whereDearer(measures, ours)))],
  ['wait p50, s', ({ waits }) => inSeconds(waits.p50)],
  ['wait p99, s', ({ waits }) => inSeconds(waits.p99)],
];

/** A load with all of its measures, in two tables. */
export const sectionOf = (compared: Compared): string => section(compared, [COSTS, WAITS]);

/** A load in one table, for the page. */
export const pageSectionOf = (compared: Compared): string => section(compared, [OF_THE_PAGE]);

const section = (compared: Compared, tables: readonly (readonly Column[])[]): string => {
  const { load, runs } = compared;
  const least = runs[0]?.measures.leastCalls ?? 0;
  return [
    `### ${load.name[0]?.toUpperCase()}${load.name.slice(1)}`,
    `${load.about} \`maxSize\` ${load.maxSize}, \`maxWait\` ${load.maxWait / 1_000} s, fewest possible calls ${named(least)}.`,
    ...tables.map((columns) => table(columns, compared)),
  ].join('\n\n');
};

/** The list of the ways compared. */
export const variantsList = (): string => VARIANTS.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');

/** Replaces the generated parts of the page, each between its markers. @throws Error if a marker is missing */
export const withParts = (page: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce((text, [name, part]) => {
    const between = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!between.test(text)) throw new Error(`the page has no markers for ${name}`);
    return text.replace(between, (_, begin: string, end: string) => `${begin}\n${part}\n\n${end}`);
  }, page);
