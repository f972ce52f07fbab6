/** `groupage lists claim`, `complete` and `release`: what a worker does that pulls. */
import { ulid } from 'ulid';
import { listPath } from '../../src/client/list-calls.ts';
import { CommandFailure } from '../failure.ts';
import { CLAIMED, type CommonOptions, RELEASED, SEALED } from '../shapes.ts';
import { plural, printable, printJson } from '../terminal.ts';
import { ApiFailure } from './api-client.ts';
import { connect, toSameApi } from './connect.ts';
import { jobLines } from './deferred-view.ts';

interface ClaimOptions extends CommonOptions {
  readonly count: number;
  readonly lease: number;
  readonly claimId?: string;
}

export const claimJobs = async (id: string, options: ClaimOptions): Promise<void> => {
  const { count, lease, claimId = ulid() } = options;
  const api = await connect(options);
  try {
    const body = JSON.stringify({ count, leaseSeconds: lease, claimId });
    const { text, value } = await api.post(`${listPath(id)}/claims`, body, CLAIMED);
    if (options.json) return console.log(printJson(text));
    for (const line of jobLines(text)) console.log(printJson(line));
    if (!('expiresAt' in value)) return console.error(printable(`nothing to claim: ${id} is ${String(value.status)}`));
    const said = `claim ${String(value.claimId)} has ${plural(value.jobs.length, 'job')} until ${String(value.expiresAt)}`;
    console.error(
      printable(`${said}; then: groupage lists complete ${id} ${String(value.claimId)}${toSameApi(options)}`),
    );
  } catch (cause) {
    const isRefused = cause instanceof ApiFailure && cause.status < 500;
    if (!(cause instanceof CommandFailure) || isRefused) throw cause;
    const again = `groupage lists claim ${id} --count ${count} --lease ${lease} --claim-id ${claimId}${toSameApi(options)}`;
    throw new CommandFailure(`${cause.message}\nWhether jobs were claimed is not known; to be answered them: ${again}`);
  }
};

interface CompleteOptions extends CommonOptions {
  readonly failed?: boolean;
  readonly jobs?: readonly number[];
}

export const completeClaim = async (id: string, claim: string, options: CompleteOptions): Promise<void> => {
  const status = options.failed ? 'failed' : 'succeeded';
  const tokens = options.jobs ?? (options.failed ? tokensOf(claim) : undefined);
  const body = tokens ? { jobs: tokens.map((token) => ({ token, status })) } : {};
  const api = await connect(options);
  const { text, value } = await api.post(`${pathOf(id, claim)}/complete`, JSON.stringify(body), SEALED);
  const what = options.jobs ? plural(options.jobs.length, 'job is', 'jobs are') : 'all jobs of the claim are';
  const said = `${what} done; ${id} is ${value.complete ? 'complete' : 'not complete yet'}`;
  console.log(options.json ? printJson(text) : printable(said));
};

/** Those that a claim has, as its handle says. */
const tokensOf = (claim: string): readonly number[] => {
  const [, first, count] = /^[^.]+\.(\d{1,12})\.(\d{1,4})\./.exec(claim) ?? [];
  return Array.from({ length: Number(count ?? 0) }, (_, n) => Number(first) + n);
};

export const releaseClaim = async (id: string, claim: string, options: CommonOptions): Promise<void> => {
  const { text, value } = await (await connect(options)).post(`${pathOf(id, claim)}/release`, '', RELEASED);
  console.log(options.json ? printJson(text) : `${plural(value.released, 'job')} released`);
};

const pathOf = (id: string, claim: string): string => `${listPath(id)}/claims/${encodeURIComponent(claim)}`;
