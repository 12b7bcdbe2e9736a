/** Authorization: signing in to servers. */
export type { CredentialStorage } from "../auth/client/credential-storage.ts";
export { memoryCredentials } from "../auth/client/memory-credentials.ts";
export { type PastedSignInOptions, pastedSignIn } from "../auth/client/pasted-sign-in.ts";
export type { SignIn, SignInAttempt } from "../auth/client/sign-in.ts";
