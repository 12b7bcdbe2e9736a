import {
  InvalidToken,
  apiKeys,
  bearer,
  clientCredentials,
  enterpriseManaged,
  introspectionVerifier,
  jwtVerifier,
  memoryCredentials,
  oauth,
  pastedSignIn,
  protectedResource,
  tokenExchange,
  workloadIdentity,
} from "mcparley/auth";

export const invalid = new InvalidToken("a");
export const keys = (...given: Parameters<typeof apiKeys>) => apiKeys(...given);
export const checked = (...given: Parameters<typeof bearer>) => bearer(...given);
export const machine = (...given: Parameters<typeof clientCredentials>) => clientCredentials(...given);
export const managed = (...given: Parameters<typeof enterpriseManaged>) => enterpriseManaged(...given);
export const introspected = (...given: Parameters<typeof introspectionVerifier>) => introspectionVerifier(...given);
export const verified = (...given: Parameters<typeof jwtVerifier>) => jwtVerifier(...given);
export const storage = memoryCredentials();
export const signedIn = (...given: Parameters<typeof oauth>) => oauth(...given);
export const pasted = (...given: Parameters<typeof pastedSignIn>) => pastedSignIn(...given);
export const guarded = (...given: Parameters<typeof protectedResource>) => protectedResource(...given);
export const exchanged = (...given: Parameters<typeof tokenExchange>) => tokenExchange(...given);
export const workload = (...given: Parameters<typeof workloadIdentity>) => workloadIdentity(...given);
