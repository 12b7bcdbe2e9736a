/** HTTP servers on Node, also in several processes, stores in files, stored credentials, and sign-in with a browser. */
export type { CredentialStorage } from "./auth/client/credentials.ts";
export type { SignIn, SignInAttempt } from "./auth/client/sign-in.ts";
export type { HealthOptions } from "./http/server/options.ts";
export { createFetch } from "./node/create-fetch.ts";
export { type ListenOptions, type RunningHttpServer, listen } from "./node/listen.ts";
export { type NodeHandler, toNodeHandler } from "./node/node-handler.ts";
export {
  type RunWorkersOptions,
  type WorkerContext,
  type WorkerService,
  runWorkers,
} from "./node/workers/run-workers.ts";
export { type FileStoreOptions, fileStore } from "./node/file-store.ts";
export { type FileCredentialsOptions, fileCredentials, tokenFile } from "./node/credentials/file-credentials.ts";
export type { KeyStorage } from "./node/credentials/credential-key.ts";
export { type KeychainOptions, type KeyringModule, keychain } from "./node/credentials/keychain.ts";
export {
  type LoopbackSignInOptions,
  type OpenUrlOptions,
  loopbackSignIn,
  openUrl,
} from "./node/sign-in/loopback-sign-in.ts";
