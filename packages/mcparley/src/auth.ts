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
export {
  type PastedSignInOptions,
  type SignIn,
  type SignInAttempt,
  type SignInPurpose,
  pastedSignIn,
} from "./auth/client/sign-in.ts";
export { type ApiKey, type ApiKeysOptions, apiKeys } from "./auth/server/api-keys.ts";
export { type BearerCaller, type BearerOptions, type VerifyBearer, bearer } from "./auth/server/bearer.ts";
export { introspectionVerifier } from "./auth/server/introspection-verifier.ts";
export { jwtVerifier } from "./auth/server/jwt-verifier.ts";
export type {
  DpopOptions,
  IntrospectionVerifierOptions,
  JwtVerifierOptions,
  TokenExchangeOptions,
  UpstreamToken,
} from "./auth/server/options.ts";
export {
  type ProtectedResource,
  type ProtectedResourceOptions,
  type ScopeHierarchy,
  protectedResource,
} from "./auth/server/protected-resource.ts";
export type { Authenticate, HttpServerAuth } from "./http/server/options.ts";
export type { ResourceDescription } from "./auth/server/published-metadata.ts";
export { type TokenExchange, tokenExchange } from "./auth/server/token-exchange.ts";
export { InvalidToken, type ScopesOf, type TokenVerifier, type VerifiedToken } from "./auth/server/verified-token.ts";
