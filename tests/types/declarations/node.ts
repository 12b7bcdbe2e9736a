import {
  createFetch,
  fileCredentials,
  fileStore,
  keychain,
  listen,
  runWorkers,
  loopbackSignIn,
  openUrl,
  toNodeHandler,
  tokenFile,
} from "mcparley/node";
import { createServer } from "mcparley/server";

const server = createServer({ name: "x", version: "1" });
export const listening = () => listen(server, { port: 0 });
export const listeningAt = () => listen(server, 3000);
export const handler = toNodeHandler(server);
export const fetching = (...given: Parameters<typeof createFetch>) => createFetch(...given);
export const credentials = (...given: Parameters<typeof fileCredentials>) => fileCredentials(...given);
export const store = (...given: Parameters<typeof fileStore>) => fileStore(...given);
export const keys = (...given: Parameters<typeof keychain>) => keychain(...given);
export const signIn = (...given: Parameters<typeof loopbackSignIn>) => loopbackSignIn(...given);
export const browse = (...given: Parameters<typeof openUrl>) => openUrl(...given);
export const token = (...given: Parameters<typeof tokenFile>) => tokenFile(...given);

export const workers = runWorkers(({ store, worker }) => ({
  url: `${worker}`,
  close: () => store.close?.() ?? Promise.resolve(),
}));
