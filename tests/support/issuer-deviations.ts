import type { JsonObject } from "../../packages/mcparley/src/rpc/messages.ts";
import type { ScriptedIssuer } from "./scripted-issuer.ts";

/** A deviation from the RFCs that the documentation of an authorization server states. */
export interface IssuerDeviation {
  issuer: string;
  deviation: string;
  /** The page of the documentation. */
  source: string;
  /** Makes a scripted issuer deviate. */
  apply: (world: ScriptedIssuer) => void;
  /** The options of a client that the documentation requires. */
  options?: { scope?: string; resource?: string | false };
  /** The parts of the results that differ from those of an issuer without deviations. */
  expected?: Partial<DeviationResults>;
}

/** The results of a sign-in, of a call with an expired token, and of a sign-out. */
export interface DeviationResults {
  /** The status of the first call, or the message of its error. */
  first: number | RegExp;
  second: number;
  /** The number of sign-ins. */
  visits: number;
  /** The scopes of the account after the first call. */
  scopes: string[];
  signOut: string;
}

const json = (body: unknown, status = 200): Response => Response.json(body, { status });

/** Changes the document in a successful response of the token endpoint. */
const changeTokens = (change: (document: JsonObject) => JsonObject) => (world: ScriptedIssuer) => {
  world.rewrite = async (response, { path }) =>
    path === "/token" && response.ok ? json(change((await response.json()) as JsonObject)) : response;
};

/** Answers the token requests of one grant type. */
const answerGrant =
  (grantType: string, answer: (parameters: URLSearchParams) => Response | undefined) => (world: ScriptedIssuer) => {
    world.answerToken = (parameters) => (parameters.get("grant_type") === grantType ? answer(parameters) : undefined);
  };

const without = (document: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));

const entra = "https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow";
const github = "https://docs.github.com/en/apps";
const slack = "https://docs.slack.dev";
const cognito = "https://docs.aws.amazon.com/cognito/latest/developerguide";

export const issuerDeviations: readonly IssuerDeviation[] = [
  {
    issuer: "Entra",
    deviation: "requires scope in a refresh request",
    source: `${entra}#refresh-the-access-token`,
    apply: answerGrant("refresh_token", (parameters) =>
      parameters.get("scope") === "a b"
        ? undefined
        : json({ error: "invalid_request", error_description: "AADSTS900144: The request must contain 'scope'." }, 400),
    ),
  },
  {
    issuer: "Entra",
    deviation: "refuses resource in a refresh request",
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes",
    apply: answerGrant("refresh_token", (parameters) => {
      const description = "AADSTS901002: The 'resource' request parameter is not supported.";
      return parameters.has("resource")
        ? json({ error: "invalid_request", error_description: description }, 400)
        : undefined;
    }),
  },
  {
    issuer: "Entra",
    deviation: "refuses resource in all requests",
    source: "https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes",
    apply: (world) => {
      world.answerToken = (parameters) =>
        parameters.has("resource")
          ? json({ error: "invalid_target", error_description: "AADSTS9010010" }, 400)
          : undefined;
    },
    options: { resource: false },
  },
  {
    issuer: "Entra",
    deviation: "writes expires_in as a text at the endpoints of version 1, with other members",
    source:
      "https://learn.microsoft.com/en-us/previous-versions/azure/active-directory/azuread-dev/v1-protocols-oauth-code",
    apply: changeTokens((document) => ({ ...document, expires_in: "3600", expires_on: "1388444763", resource: "x" })),
  },
  {
    issuer: "Okta",
    deviation: "refuses a registration with an error of its own API",
    source: "https://developer.okta.com/docs/reference/error-codes/",
    apply: (world) => {
      const error = { errorCode: "E0000005", errorSummary: "Invalid session", errorLink: "E0000005", errorCauses: [] };
      world.rewrite = (response, { path }) => (path === "/register" ? json(error, 403) : response);
    },
    expected: { first: /to register a client .*Invalid session/, visits: 0 },
  },
  {
    issuer: "Auth0",
    deviation: "refuses an invalid refresh token with status 403",
    source:
      "https://support.auth0.com/center/s/article/troubleshoot-refresh-token-unknown-or-invalid-before-expiry-403-unknown-or-invalid-refresh-token",
    apply: answerGrant("refresh_token", () =>
      json({ error: "invalid_grant", error_description: "Unknown or invalid refresh token." }, 403),
    ),
    expected: { visits: 2 },
  },
  {
    issuer: "Auth0",
    deviation: "requires a second factor for a refresh",
    source: "https://auth0.com/docs/secure/multi-factor-authentication/step-up-authentication",
    apply: answerGrant("refresh_token", () =>
      json({ error: "mfa_required", error_description: "Multifactor authentication required", mfa_token: "Fe26" }, 403),
    ),
    expected: { visits: 2 },
  },
  {
    issuer: "Keycloak",
    deviation: "adds members to a token response",
    source: "https://www.keycloak.org/docs-api/latest/javadocs/org/keycloak/representations/AccessTokenResponse.html",
    apply: changeTokens((document) => ({
      ...document,
      "not-before-policy": 0,
      refresh_expires_in: 0,
      session_state: "s",
    })),
  },
  {
    issuer: "Keycloak",
    deviation: "refuses a registration by a policy, with an error of RFC 6750",
    source: "https://www.keycloak.org/securing-apps/client-registration",
    apply: (world) => {
      const description = "Policy 'Trusted Hosts' rejected request to client-registration service.";
      const error = { error: "insufficient_scope", error_description: description };
      world.rewrite = (response, { path }) => (path === "/register" ? json(error, 403) : response);
    },
    expected: { first: /insufficient_scope \(Policy 'Trusted Hosts' rejected .*set the option client/, visits: 0 },
  },
  {
    issuer: "GitHub",
    deviation: "answers with a form, and separates scopes by commas",
    source: `${github}/oauth-apps/building-oauth-apps/authorizing-oauth-apps#response`,
    apply: (world) => {
      world.rewrite = async (response, { path }) => {
        if (path !== "/token") return response;
        const { access_token: token } = (await response.json()) as { access_token: string };
        return new Response(new URLSearchParams({ access_token: token, scope: "a,b", token_type: "bearer" }));
      };
    },
    expected: { visits: 2 },
  },
  {
    issuer: "GitHub",
    deviation: "refuses a code with status 200",
    source: `${github}/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors`,
    apply: answerGrant("authorization_code", () =>
      json({ error: "bad_verification_code", error_description: "The code passed is incorrect or expired." }),
    ),
    expected: { first: /bad_verification_code \(The code passed is incorrect or expired\.\)/ },
  },
  {
    issuer: "GitHub",
    deviation: "refuses a refresh token with status 200",
    source: `${github}/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens`,
    apply: answerGrant("refresh_token", () =>
      json({ error: "bad_refresh_token", error_description: "The refresh token passed is incorrect or expired." }),
    ),
    expected: { visits: 2 },
  },
  {
    issuer: "Slack",
    deviation: "issues the token of a user in a member, of the type user, with scopes separated by commas",
    source: `${slack}/reference/methods/oauth.v2.access`,
    apply: changeTokens((document) => ({
      ok: true,
      app_id: "A0KRD7HC3",
      enterprise: null,
      authed_user: { ...document, id: "U1234", scope: "a,b", token_type: "user" },
    })),
  },
  {
    issuer: "Slack",
    deviation: "names the type of a token bot",
    source: `${slack}/reference/methods/oauth.v2.access`,
    apply: changeTokens((document) => ({ ok: true, ...document, scope: "a,b", token_type: "bot" })),
  },
  {
    issuer: "Slack",
    deviation: "refuses a code with status 200 and ok: false",
    source: `${slack}/reference/methods/oauth.v2.access`,
    apply: answerGrant("authorization_code", () => json({ ok: false, error: "invalid_code" })),
    expected: { first: /refused to issue tokens: invalid_code/ },
  },
  {
    issuer: "Slack",
    deviation: "refuses a refresh token with status 200 and ok: false",
    source: `${slack}/authentication/using-token-rotation`,
    apply: answerGrant("refresh_token", () => json({ ok: false, error: "invalid_refresh_token" })),
    expected: { visits: 2 },
  },
  {
    issuer: "Google",
    deviation: "issues a refresh token for a code only, and adds members",
    source: "https://developers.google.com/identity/protocols/oauth2/web-server#offline",
    apply: (world) => {
      world.rewrite = async (response, { path, parameters }) => {
        if (path !== "/token" || !response.ok) return response;
        const document = { ...((await response.json()) as JsonObject), refresh_token_expires_in: 604_799 };
        return json(parameters.get("grant_type") === "refresh_token" ? without(document, "refresh_token") : document);
      };
    },
  },
  {
    issuer: "Google",
    deviation: "revokes the access token with its refresh token, and refuses it then as invalid",
    source: "https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke",
    apply: (world) => {
      const error = { error: "invalid_token", error_description: "Token expired or revoked" };
      world.rewrite = (response, { path, parameters }) =>
        path === "/revoke" && parameters.get("token_type_hint") === "access_token" ? json(error, 400) : response;
    },
  },
  {
    issuer: "WorkOS",
    deviation: "issues tokens without token_type and expires_in",
    source: "https://workos.com/docs/reference/authkit/authentication",
    apply: changeTokens((document) => ({ ...without(document, "token_type", "expires_in"), user: { object: "user" } })),
  },
  {
    issuer: "WorkOS",
    deviation: "revokes refresh tokens only",
    source: "https://workos.com/docs/reference/workos-connect/revocation",
    apply: refuseAccessTokenRevocation,
  },
  {
    issuer: "Cognito",
    deviation: "revokes refresh tokens only",
    source: `${cognito}/revocation-endpoint.html`,
    apply: refuseAccessTokenRevocation,
  },
  {
    issuer: "Cognito",
    deviation: "publishes the document of OpenID Connect only",
    source: `${cognito}/federation-endpoints.html`,
    apply: (world) => {
      world.rewrite = (response, { path }) => {
        if (path === "/.well-known/oauth-authorization-server") return new Response(null, { status: 404 });
        return path === "/.well-known/openid-configuration" ? json(world.metadata) : response;
      };
    },
  },
  {
    issuer: "IBM Security Verify",
    deviation: "answers a registration with status 200, and writes redirect_uris as a text",
    source: "https://www.ibm.com/docs/en/sva/11.0.3?topic=clients-oidc-dynamic-register-client",
    apply: (world) => {
      world.rewrite = async (response, { path }) => {
        if (path !== "/register") return response;
        return json({ ...((await response.json()) as JsonObject), redirect_uris: "https://app.com" });
      };
    },
  },
];

function refuseAccessTokenRevocation(world: ScriptedIssuer): void {
  world.rewrite = (response, { path, parameters }) =>
    path === "/revoke" && parameters.get("token_type_hint") === "access_token"
      ? json({ error: "unsupported_token_type" }, 400)
      : response;
}
