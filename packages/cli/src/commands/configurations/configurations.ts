/** The commands that need the package of configurations. The others do not wait for it. */
export { addServer } from "./add-server.ts";
export { listServers } from "./list-servers.ts";
export { removeServer } from "./remove-server.ts";
