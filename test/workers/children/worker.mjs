/** A worker without any library, which does what the payload of a job, or the name of a partition, says. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

const folder = process.env.TEST_FOLDER ?? '.';
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const note = (text) => appendFileSync(join(folder, 'notes'), `${text}\n`);
let isStopping = false;
let stored = () => {};

const jobs = {
  echo: ({ payload, deliveries }) => ({ n: payload.n, deliveries }),
  fail: () => {
    throw Object.assign(new Error('no such depot: Zürich'), { code: 'no-depot' });
  },
  throw: () => {
    throw new Error('out of luck');
  },
  die: () => process.exit(3),
  last: ({ payload, deliveries }) => {
    setImmediate(() => process.exit(0));
    return { n: payload.n, deliveries };
  },
  quits: ({ payload }) => {
    note(`began ${payload.n}`);
    process.exit(0);
  },
  silent: () => setTimeout(60_000),
  slow: async ({ payload }) => {
    note(`began ${payload.n}`);
    await setTimeout(payload.ms);
    note(`ended ${payload.n}${isStopping ? ' stopping' : ''}`);
    return { slow: payload.n, stopped: isStopping };
  },
  alive: async () => {
    for (let n = 0; n < 12; n += 1) {
      await setTimeout(600);
      send({ type: 'alive' });
    }
    return 'still alive';
  },
  print: () => {
    console.log('a line for people');
    return 'printed';
  },
};

const work = async (job) => {
  isStopping = false;
  const { token } = job;
  try {
    send({ type: 'done', token, result: await jobs[job.payload.do](job) });
  } catch ({ code, message }) {
    if (code) send({ type: 'failed', token, error: { code, message } });
    else send({ type: 'retry', token, message });
  }
};

const workOn = async ({ partition, checkpoint, fence }) => {
  let position = Number(checkpoint ?? 0);
  note(`${process.pid} ${partition} ${fence} from ${position}`);
  if (partition === 'ends') process.exit(0);
  while (!isStopping) {
    await setTimeout(50);
    const once = join(folder, `${partition}-once`);
    if (position >= 5 && ['dies', 'silent'].includes(partition) && !existsSync(once)) {
      writeFileSync(once, '');
      if (partition === 'dies') process.exit(3);
      await setTimeout(60_000);
    }
    position += 1;
    const isStored = new Promise((resolve) => {
      stored = resolve;
    });
    send({ type: 'checkpoint', value: `${position}` });
    await isStored;
  }
  note(`${process.pid} ${partition} ${fence} to ${position}`);
  process.exit(0);
};

note(`pid ${process.pid}`);
send({ type: 'ready' });
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.type === 'job') void work(message);
    else if (message.type === 'partition') void workOn(message);
    else if (message.type === 'stored') stored();
    else if (message.type === 'stop') isStopping = true;
  })
  .on('close', () => process.exit());
