import {
  type ProtectedResource,
  type TokenVerifier,
  introspectionVerifier,
  jwtVerifier,
  protectedResource,
} from "mcparley/auth";
import { UsageError } from "../../terminal/io.ts";
import type { AuthSettings, IssuerSettings } from "./auth-settings.ts";

/**
 * Creates the protection of the endpoint from the settings. Throws `UsageError` if a secret that they name is not in
 * the environment.
 */
export function protectFolder(settings: AuthSettings, env: NodeJS.ProcessEnv): ProtectedResource {
  const { resource, issuers, audience, scopes, implies, dpop } = settings;
  const audiences = audience.length > 0 ? [...audience] : [resource];
  // Introspection accepts tokens of any form, so the verifiers that recognize their own tokens run first.
  const verifiers = [
    ...issuers.map((one) => forJwts(one, audiences)),
    ...issuers.flatMap((one) => asking(one, audiences, env)),
  ];
  return protectedResource({
    resource,
    issuers: issuers.map(({ issuer }) => issuer),
    verifier: verifiers,
    audience: audiences,
    scopes: [...scopes],
    scopeHierarchy: (scope) => implies.get(scope) ?? [],
    dpop: { required: dpop === "required" },
  });
}

function forJwts({ issuer, jwks }: IssuerSettings, audience: string[]): TokenVerifier {
  return jwtVerifier({ issuer, audience, ...(jwks !== undefined && { jwks }) });
}

function asking(
  { issuer, introspection }: IssuerSettings,
  audience: string[],
  env: NodeJS.ProcessEnv,
): TokenVerifier[] {
  if (!introspection) return [];
  const { clientId, secretEnv } = introspection;
  const secret = env[secretEnv];
  if (secret === undefined || secret === "") {
    const hint = "Set it to the introspection secret that server.yaml refers to.";
    throw new UsageError(`The environment variable ${secretEnv} is not set.`, hint);
  }
  return [introspectionVerifier({ issuer, audience, client: { id: clientId, secret } })];
}
