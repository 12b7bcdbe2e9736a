/** The code that needs the package of configurations. Other targets do not wait for it. */
export { approve } from "./approval.ts";
export { findInFile, findServer, readAll, targetOf } from "./find-server.ts";
