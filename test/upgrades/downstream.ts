/** The downstream that the operations of `config.ts` call: while a fixture is written, and afterwards. */
import type { Behaviour } from '../factories/downstream.ts';

/** Never answered: its process is killed meanwhile. */
const HANGS = new Promise<undefined>(() => {});

/** Each operation gets what leaves its batch where the fixture wants it. */
export const behaveAsBefore: Behaviour = ({ operation, items }) => {
  switch (operation) {
    case 'retried':
    case 'circuit':
      return { status: 503 };
    case 'job':
    case 'capped':
      return { status: 202, body: { pending: true } };
    case 'failing':
      return {
        status: 200,
        body: { results: items.map(({ id }) => ({ id, status: 'failed', error: { code: 'broken', message: 'no' } })) },
      };
    case 'hanging':
      return HANGS;
    default:
      return {
        status: 200,
        body: { results: items.map(({ id }) => ({ id, status: 'succeeded', result: { by: id } })) },
      };
  }
};
