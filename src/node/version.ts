/** The oldest Node.js that the published package supports: the first 22 in which `require` loads ES modules. */
const OLDEST = '22.12';

/**
 * The reason why the package does not run on a version of Node.js, and what to do. Undefined if it runs.
 *
 * AWS SDKs published from January 2027 on, which the package's ranges accept, refuse Node.js below 22. Without this check,
 * an app on Node.js 20 would fail as soon as it installs one of them.
 *
 * @param version for example 20.20.2.
 */
export const nodeProblem = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Groupage needs Node.js ${OLDEST} or newer, and this is Node.js ${version} (${process.execPath}). No task was sent or changed. Install a newer Node.js (for example: nvm install --lts), or choose a newer runtime, and start again.`;
};

/** `package.json` states the same. */
export const NODE_RANGE = `>=${OLDEST}`;

/** The error of an import of the package on an older Node.js. */
export class UnsupportedNode extends Error {
  override readonly name = 'UnsupportedNode';
}
