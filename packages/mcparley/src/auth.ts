/** Authorization: clients that get tokens by OAuth, and servers that require tokens or API keys. */
export type { ClientCredential } from "./auth/client-credential.ts";
export { type CredentialStorage, memoryCredentials } from "./auth/client/credentials.ts";
export { clientCredentials, enterpriseManaged, workloadIdentity } from "./auth/client/machine-grants.ts";
export { oauth } from "./auth/client/oauth.ts";
export type {
  AuthorizationOptions,
  ClientCredentialsOptions,
  EnterpriseManagedOptions,
  IdentityAssertion,
  IdentityProvider,
  MachineOptions,
  OAuth,
  OAuthOptions,
  RegisteredClient,
  ResourceOffer,
  SignedInAccount,
  WorkloadIdentityOptions,
} from "./auth/client/options.ts";
export { type PastedSignInOptions, type SignIn, type SignInAttempt, pastedSignIn } from "./auth/client/sign-in.ts";
export { type ApiKey, type ApiKeysOptions, apiKeys } from "./auth/server/api-keys.ts";
export { type BearerCaller, type BearerOptions, type VerifyBearer, bearer } from "./auth/server/bearer.ts";
export type { DpopOptions } from "./auth/server/dpop.ts";
export { type IntrospectionVerifierOptions, introspectionVerifier } from "./auth/server/introspection-verifier.ts";
export { type JwtVerifierOptions, jwtVerifier } from "./auth/server/jwt-verifier.ts";
export {
  type ProtectedResource,
  type ProtectedResourceOptions,
  type ScopeHierarchy,
  protectedResource,
} from "./auth/server/protected-resource.ts";
export type { Authenticate, HttpServerAuth } from "./http/server/options.ts";
export type { ResourceDescription } from "./auth/server/published-metadata.ts";
export {
  type TokenExchange,
  type TokenExchangeOptions,
  type UpstreamToken,
  tokenExchange,
} from "./auth/server/token-exchange.ts";
export { InvalidToken, type ScopesOf, type TokenVerifier, type VerifiedToken } from "./auth/server/verified-token.ts";
