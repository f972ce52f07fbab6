/** PartiQL statements have permissions of their own, in any kind of request. */
import { UnknownCommand, type Use } from './use.ts';

const NAME = '"?([\\w.-]+)"?';
const FORMS: readonly (readonly [form: RegExp, action: string])[] = [
  [new RegExp(`^\\s*INSERT\\s+INTO\\s+${NAME}\\s`, 'i'), 'PartiQLInsert'],
  [new RegExp(`^\\s*UPDATE\\s+${NAME}\\s`, 'i'), 'PartiQLUpdate'],
  [new RegExp(`^\\s*DELETE\\s+FROM\\s+${NAME}\\s`, 'i'), 'PartiQLDelete'],
];
/** A transaction states a condition as `EXISTS(SELECT …)`. */
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
