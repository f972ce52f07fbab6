/**
 * The third variant, which Groupage uses: jobs are numbered, and the list's row has the next number and all leases. A
 * job is handed out again if its worker dies.
 */
import { strict as assert } from 'node:assert';
import type { ListId } from '../../../src/domain/lists/ids.ts';
import { claimJobs } from '../../../src/steps/lists/claim.ts';
import { complete } from '../../../src/steps/lists/complete.ts';
import { takeJobs } from '../../../src/steps/lists/trigger.ts';
import { claimNamed, heldBy, openList, tokenNamed, type World } from '../../lists/world.ts';
import type { Way } from './variant.ts';

const LEASE = 300_000;

export const byTokens = async ({ deps }: Pick<World, 'deps'>, id: ListId, jobs: number): Promise<Way> => {
  await openList({ deps }, id, jobs);
  return {
    advance: async (done) => {
      const list = await deps.lists.read(id);
      assert(list && list.head <= done);
      if (list.head < done)
        await takeJobs(deps, { list: id, token: tokenNamed(`to-${done}`), count: done - list.head });
    },
    claim: async (claimer) => {
      const claimed = await claimJobs(deps, id, { claim: claimNamed(claimer), count: 1, lease: LEASE });
      if (claimed.kind !== 'claimed') return undefined;
      const [job] = claimed.jobs;
      assert(job);
      return { job: claimed.handle, payload: job.payload };
    },
    complete: async ({ job }) => {
      assert.equal((await complete(deps, id, heldBy(id, job), 'succeeded')).kind, 'done');
    },
  };
};
