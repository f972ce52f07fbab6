/** Runs the command line repeatedly in one process, which groupage.ts starts: loading takes most of a run. */
import { Console } from 'node:console';
import { Readable, Writable } from 'node:stream';
import { inspect } from 'node:util';
import { run } from '../../tools/cli/program.ts';

/** One run, with the inputs that a process of its own would have. */
export interface Asked {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly input: string;
  readonly env: NodeJS.ProcessEnv;
}

const AGENT = Symbol.for('undici.globalDispatcher.1');
/** Closes the connections that `fetch` keeps open, as the end of a process would. */
const hangUp = async (): Promise<void> => {
  const agent = Reflect.get(globalThis, AGENT);
  if (!agent) return;
  Reflect.set(globalThis, AGENT, new agent.constructor());
  await agent.destroy();
};

const written = () => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};

/** Prints an unexpected error as Node.js does. */
const codeOf = async (args: readonly string[]): Promise<number> => {
  try {
    return await run(args);
  } catch (cause) {
    console.error(inspect(cause));
    return 1;
  }
};

const take = async ({ cwd, args, input, env }: Asked): Promise<void> => {
  const [out, err] = [written(), written()];
  process.chdir(cwd);
  process.env = { ...env };
  process.exitCode = undefined;
  const stdin = Readable.from(input ? [Buffer.from(input)] : [], { objectMode: false });
  for (const [name, value] of Object.entries({ stdin, stdout: out.stream, stderr: err.stream }))
    Object.defineProperty(process, name, { value, configurable: true });
  globalThis.console = new Console(out.stream, err.stream);
  const code = await codeOf(args);
  await hangUp();
  process.send?.({ code, out: out.text(), err: err.text() });
};

process.on('message', (asked) => take(asked as Asked));
process.on('disconnect', () => process.exit());
