/**
 * Sets the clock of a process: what a fixture holds has deadlines, leases and ages, and is to be found as a deployment a
 * minute later finds it. Loaded by `--import clock.ts?ahead=MS`, before anything else; rows and messages stay as they are.
 */

const ahead = Number(new URL(import.meta.url).searchParams.get('ahead'));
const RealDate = Date;
const now = (): number => RealDate.now() + ahead;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, self) => (name === 'now' ? now : Reflect.get(target, name, self)),
});

export {};
