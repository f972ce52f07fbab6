/** PartiQL statements need permissions of their own, whatever request carries them. */
import { UnknownCommand, type Use } from './use.ts';

const NAME = '"?([\\w.-]+)"?';
const FORMS: readonly (readonly [form: RegExp, action: string])[] = [
  [new RegExp(`^\\s*INSERT\\s+INTO\\s+${NAME}\\s`, 'i'), 'PartiQLInsert'],
  [new RegExp(`^\\s*UPDATE\\s+${NAME}\\s`, 'i'), 'PartiQLUpdate'],
  [new RegExp(`^\\s*DELETE\\s+FROM\\s+${NAME}\\s`, 'i'), 'PartiQLDelete'],
];
/** `EXISTS(SELECT …)` is how a transaction states a condition. */
const SELECT = /^\s*(?:EXISTS\s*\(\s*)?SELECT\s.*?\sFROM\s+"?([\w-]+)"?(?:\."([\w.-]+)")?(?:\s|\)|$)/is;

/** @throws UnknownCommand */
export const statementUses = (statement: string): Use[] => {
  const [, from, index] = SELECT.exec(statement) ?? [];
  if (from) return [{ action: 'dynamodb:PartiQLSelect', resource: index ? `${from}/index/${index}` : from }];
  for (const [form, action] of FORMS) {
    const [, table] = form.exec(statement) ?? [];
    if (table) return [{ action: `dynamodb:${action}`, resource: table }];
  }
  throw new UnknownCommand(`the statement ${statement.slice(0, 80)}`);
};
