/** Authorization: signing in to servers, and protecting one's own. */
export type { ClientCredential } from "./auth/client-authentication.ts";
export { type ClientCredentialsOptions, clientCredentials } from "./auth/client/client-credentials.ts";
export type { CredentialStorage } from "./auth/client/credential-storage.ts";
export {
  type EnterpriseManagedOptions,
  type IdentityAssertion,
  type IdentityProvider,
  enterpriseManaged,
} from "./auth/client/machine-flows.ts";
export type { MachineOptions } from "./auth/client/machine-grants.ts";
export { memoryCredentials } from "./auth/client/memory-credentials.ts";
export { type PastedSignInOptions, pastedSignIn } from "./auth/client/sign-in.ts";
export type { SignIn, SignInAttempt } from "./auth/client/sign-in-types.ts";
export type { Account, OAuth } from "./auth/client/flow.ts";
export type { AuthorizationOptions } from "./auth/client/authorization-options.ts";
export { type OAuthOptions, oauth } from "./auth/client/oauth.ts";
export type { GivenClient } from "./auth/client/registration.ts";
export { type WorkloadIdentityOptions, workloadIdentity } from "./auth/client/workload-identity.ts";
export type { ScopesOf } from "./auth/server/claims.ts";
export type { DpopOptions } from "./auth/server/dpop-options.ts";
export { type IntrospectionVerifierOptions, introspectionVerifier } from "./auth/server/introspection-verifier.ts";
export { type JwtVerifierOptions, jwtVerifier } from "./auth/server/jwt-verifier.ts";
export {
  type ProtectedResource,
  type ProtectedResourceOptions,
  protectedResource,
} from "./auth/server/protected-resource.ts";
export type { ResourceDescription } from "./auth/server/resource-description.ts";
export type { ScopeHierarchy } from "./auth/server/scope-hierarchy.ts";
export {
  type TokenExchange,
  type TokenExchangeOptions,
  type UpstreamToken,
  tokenExchange,
} from "./auth/server/token-exchange.ts";
export { InvalidToken, type TokenVerifier, type VerifiedToken } from "./auth/server/verified-token.ts";
