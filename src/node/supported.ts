/**
 * Each module that users of the published package import loads this file first, so that nothing begins on a Node.js
 * that is too old.
 */
import { nodeProblem, UnsupportedNode } from './version.ts';

const problem = nodeProblem(process.versions.node);
if (problem !== undefined) throw new UnsupportedNode(problem);
