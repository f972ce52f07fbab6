/** A running engine at a loopback address. */
export interface Engine {
  readonly endpoint: string;
  stop(): Promise<void>;
}
