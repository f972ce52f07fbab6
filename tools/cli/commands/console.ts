/** `groupage console`: serves the console of a deployed stack on this machine, with the user's own credentials. */
import { Command, InvalidArgumentError } from 'commander';
import type { RemoteStack } from '../../console/server/remote-console.ts';
import { CommandFailure, StartFailure } from '../../failure.ts';
import { printable, withoutSecrets } from '../../terminal.ts';
import { apiClient } from '../shared/api-client.ts';
import { type CommonOptions, localStack } from '../shared/connect.ts';

/** Default port. It follows the default ports of a local stack. */
const PORT = 4_510;

/** Parses a port; 0 means any free port. */
const portOption = (text: string): number => {
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a number from 0 to 65535.');
  return value;
};

interface ConsoleOptions extends CommonOptions {
  readonly port: number;
}

export const consoleCommand = (): Command =>
  new Command('console')
    .description(
      'serve the console of a deployed stack for the browser; without --stack and --api, print the URL of the local console',
    )
    .option('--port <n>', 'port on this machine (0: any free port)', portOption, PORT)
    .action(async (options: ConsoleOptions) => {
      if (options.stack === undefined && options.api === undefined) return tell(localConsole(), options);
      const { serveConsole } = await import('../../console/server/remote-console.ts');
      const server = await orFailure(async () => serveConsole(await remote(options), options.port));
      tell(`${server.endpoint}/`, options);
      if (!options.json) console.log('Press Ctrl-C to stop the console.');
      await interrupted();
      await server.stop();
      if (!options.json) console.log('Stopped.');
    });

const tell = (url: string, { json = false }: ConsoleOptions): void =>
  console.log(json ? JSON.stringify({ console: url }) : printable(url));

const localConsole = (): string => {
  const { console: url, api } = localStack();
  if (url === undefined)
    throw new CommandFailure(`the local stack at ${api} has no console. Stop that stack and start it again`);
  return url;
};

/** The stack that the console shows. Metrics can be found only by the stack's name, not by the URL of its API. */
const remote = async ({ stack, api }: ConsoleOptions): Promise<RemoteStack> => {
  const { remoteCall } = await import('../../console/server/call.ts');
  const { noMetrics } = await import('../../console/server/metrics-feed.ts');
  if (stack === undefined) {
    const { url } = apiClient(api ?? '');
    const metrics = noMetrics('without the name of the stack, metrics cannot be shown. Name the stack with --stack');
    return { source: { kind: 'api', url: withoutSecrets(url) }, call: remoteCall(url, fetch), metrics: () => metrics };
  }
  const { reachStack } = await import('../shared/stack-api.ts');
  const { cloudWatchMetrics } = await import('../../console/server/cloudwatch-metrics.ts');
  const { name, service, account, url, send } = await reachStack(stack, api);
  const { region } = account;
  return {
    source: { kind: 'stack', name, region },
    call: remoteCall(url, send),
    metrics: (operations) => cloudWatchMetrics({ service, region, operations }),
  };
};

const orFailure = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StartFailure) throw new CommandFailure(cause.message, { cause });
    throw cause;
  }
};

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
