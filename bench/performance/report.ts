/** The figures as tables. */
import { type Dearer, fillOf, type Measures, whereDearer } from './measures.ts';
import type { Run } from './run.ts';
import { VARIANTS } from './variants.ts';

/** Every run of one load, ours first. */
export interface Compared {
  readonly load: Run['load'];
  readonly runs: readonly Run[];
}

type Column = readonly [head: string, cell: (measures: Measures, ours: Measures) => string];

/** Two digits that say something, in full from 100 on. */
export const named = (value: number): string =>
  value === 0
    ? '0'
    : value >= 100
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
const seconds = (millis: number): string => `${(millis / 1_000).toFixed(2)} s`;
const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

/** In words, with the price of a million calls. */
const breakEven = (dearer: Dearer): string => {
  const price = (perCall: number): string => `$${named(perCall * 1_000_000)} a million`;
  if (typeof dearer === 'string') return dearer;
  return 'from' in dearer ? `from ${price(dearer.from)}` : `up to ${price(dearer.upTo)}`;
};

/** With what it is of ours, where that says something. */
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
  ['a million tasks', beside(({ perMillion }) => perMillion, dollars)],
  [
    'dearer than ours in all, where calls cost',
    (measures, ours) => (measures === ours ? '' : breakEven(whereDearer(measures, ours))),
  ],
];

const WAITS: readonly Column[] = [
  ['half waited less than', ({ waits }) => seconds(waits.p50)],
  ['99%', ({ waits }) => seconds(waits.p99)],
  ['the longest', ({ waits }) => seconds(waits.max)],
  ['late: half less than', ({ late }) => seconds(late.p50)],
  ['99%', ({ late }) => seconds(late.p99)],
  ['the latest', ({ late }) => seconds(late.max)],
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

/** A section of the documentation. */
export const sectionOf = (compared: Compared): string => {
  const { load, runs } = compared;
  const least = runs[0]?.measures.leastCalls ?? 0;
  return [
    `### ${load.name[0]?.toUpperCase()}${load.name.slice(1)}`,
    `${load.about} Calls of ${load.maxSize} at the most, \`maxWait\` ${load.maxWait / 1_000} s; with all times known beforehand ${named(least)} calls would have done.`,
    table(COSTS, compared),
    table(WAITS, compared),
  ].join('\n\n');
};

/** Who is compared, as a list. */
export const variantsList = (): string => VARIANTS.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');

/** The page with what is generated of it made again, between markers by name. @throws Error where one is missing */
export const withParts = (page: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce((text, [name, part]) => {
    const between = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!between.test(text)) throw new Error(`the page has no place for ${name}`);
    return text.replace(between, (_, begin: string, end: string) => `${begin}\n${part}\n\n${end}`);
  }, page);
