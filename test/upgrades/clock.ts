/**
 * Sets the clock of a process. A fixture holds deadlines, leases and ages, and the upgraded release must find them as
 * a deployment a minute later would. Loaded by `--import clock.ts?ahead=MS` before other modules. Rows and messages
 * stay unchanged.
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
