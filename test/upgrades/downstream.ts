/** The downstream of the operations in `config.ts`, while a fixture is written and afterwards. */
import type { Behaviour } from '../factories/downstream.ts';

/** Never answered: the test kills the process during the call. */
const HANGS = new Promise<undefined>(() => {});

/** Answers each operation so that its batch stays in the state that the fixture needs. */
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
