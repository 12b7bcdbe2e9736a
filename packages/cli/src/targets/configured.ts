/** The code that needs the package of configurations. Other targets do not wait for it. */
export { readTrustedFile } from "@mcparley/config";
export { approve } from "./approval.ts";
export { readGivenFile } from "./config-file.ts";
export { problemError, withUsageErrors } from "./config-problem.ts";
export { findInFile, findServer, inProjects, readAll, targetOf } from "./find-server.ts";
