import { describe, expect, test } from "vitest";
import {
  type AnswerToken,
  type AskedToken,
  authorizationDocuments,
  tokenServer,
} from "mcparley-tests/support/token-server.ts";
import { enterpriseManaged } from "./machine-grants.ts";
import type { EnterpriseManagedOptions } from "./options.ts";

const server = new URL("https://mcp.example/mcp");
const request = { url: server, method: "POST", server };
const idp = "https://acme.idp.example";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

const grant = { issued_token_type: ID_JAG, access_token: "the-grant", token_type: "N_A", expires_in: 300 };
const token = { access_token: "the-token", token_type: "Bearer", expires_in: 3600 };

/** Creates a client for a user with a sign-in at the organization. `answers` scripts the two token endpoints. */
function employee(
  options: Partial<EnterpriseManagedOptions> = {},
  answers: { provider?: AnswerToken; authorization?: AnswerToken } = {},
): {
  challenge: (shown?: Record<string, string>) => Promise<boolean>;
  shown: () => Promise<object>;
  tokens: readonly AskedToken[];
  documents: readonly string[];
} {
  const { provider = () => grant, authorization = () => token } = answers;
  const documents = {
    ...authorizationDocuments(),
    [`${idp}/.well-known/oauth-authorization-server`]: { issuer: idp, token_endpoint: `${idp}/exchange` },
  };
  const served = tokenServer(documents, (asked) =>
    asked.url.startsWith(idp) ? provider(asked) : authorization(asked),
  );
  const auth = enterpriseManaged({
    issuer: "https://as.example",
    client: { id: "at-as", secret: "secret-of-as" },
    identityProvider: {
      issuer: idp,
      client: { id: "at-idp", secret: "secret-of-idp", method: "client_secret_post" },
    },
    identity: () => "the-id-token",
    fetch: served.fetch,
    ...options,
  });
  const challenge = (shown = {}): Promise<boolean> => {
    const headers = new Headers({ "www-authenticate": 'Bearer scope="chat.read chat.history"' });
    return auth.challenged(
      { status: 401, headers, request, shown, repeated: 0, challenges: 0 },
      new AbortController().signal,
    );
  };
  return { challenge, shown: async () => auth.headers(request), tokens: served.tokens, documents: served.documents };
}

test("the identity of a user is exchanged for a grant, and the grant for a token", async () => {
  const { challenge, shown, tokens } = employee();
  expect(await challenge()).toBe(true);
  expect(await shown()).toEqual({ authorization: "Bearer the-token" });
  const [exchange, access] = tokens;
  expect(exchange?.url).toEqual(`${idp}/exchange`);
  expect(exchange?.parameters).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: ID_JAG,
    audience: "https://as.example",
    resource: "https://mcp.example/mcp",
    scope: "chat.read chat.history",
    subject_token: "the-id-token",
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    client_id: "at-idp",
    client_secret: "secret-of-idp",
  });
  expect(access?.url).toBe("https://as.example/token");
  expect(access?.parameters).toEqual({
    grant_type: JWT_BEARER,
    client_id: "at-as",
    assertion: "the-grant",
    resource: "https://mcp.example/mcp",
    scope: "chat.read chat.history",
  });
  expect(access?.headers.get("authorization")).toEqual(`Basic ${btoa("at-as:secret-of-as")}`);
  expect(tokens).toHaveLength(2);
});

test("a SAML assertion is sent with its token type", async () => {
  const { challenge, tokens } = employee({ identity: () => ({ token: "<saml/>", type: "saml2" }) });
  await challenge();
  expect(tokens[0]?.parameters).toMatchObject({
    subject_token: "<saml/>",
    subject_token_type: "urn:ietf:params:oauth:token-type:saml2",
  });
});

test("the scopes of the grant are requested if the organization allows fewer", async () => {
  const { challenge, tokens } = employee({}, { provider: () => ({ ...grant, scope: "chat.read" }) });
  await challenge();
  expect(tokens[1]?.parameters.scope).toBe("chat.read");
});

test("a configured token endpoint of the identity provider is used without discovery", async () => {
  const { challenge, tokens, documents } = employee({
    identityProvider: { issuer: idp, tokenEndpoint: `${idp}/given`, client: { id: "at-idp" } },
  });
  await challenge();
  expect(tokens[0]?.url).toBe(`${idp}/given`);
  expect(documents.filter((url) => url.startsWith(idp))).toEqual([]);
});

test("the identity is read again for each token, because it expires", async () => {
  let count = 0;
  const { challenge, tokens } = employee({ identity: () => `id-token-${++count}` });
  await challenge();
  await challenge({ authorization: "Bearer the-token" });
  expect(tokens.map(({ parameters }) => parameters.subject_token)).toEqual([
    "id-token-1",
    undefined,
    "id-token-2",
    undefined,
  ]);
});

describe("no token is requested", () => {
  const refused = (error: string) => () => Response.json({ error }, { status: 400 });

  test("if the organization refuses, and the error names its identity provider", async () => {
    const { challenge, tokens } = employee({}, { provider: refused("access_denied") });
    await expect(challenge()).rejects.toMatchObject({
      code: "authorization_failed",
      message: `The authorization server "${idp}" refused to issue tokens: access_denied.`,
      data: { issuer: idp, error: "access_denied" },
    });
    expect(tokens).toHaveLength(1);
  });

  test.each([
    ["an access token", { ...grant, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }],
    ["a token of an unnamed type", { access_token: "other", token_type: "N_A" }],
  ])("if the identity provider issues %s instead of a grant", async (_, answer) => {
    const { challenge, tokens } = employee({}, { provider: () => answer });
    await expect(challenge()).rejects.toMatchObject({
      code: "authorization_failed",
      message: expect.stringContaining("did not issue a token of the requested type"),
      data: { issuer: idp },
    });
    expect(tokens).toHaveLength(1);
  });

  test("if the option identity fails", async () => {
    const reason = new Error("nobody is signed in");
    const { challenge, tokens } = employee({ identity: () => Promise.reject(reason) });
    await expect(challenge()).rejects.toMatchObject({
      code: "authorization_failed",
      message: "The option identity failed: nobody is signed in",
      cause: reason,
    });
    expect(tokens).toEqual([]);
  });

  test("if the identity provider is not https", async () => {
    const { challenge, tokens } = employee({
      identityProvider: { issuer: idp, tokenEndpoint: "http://acme.idp.example/token", client: { id: "at-idp" } },
    });
    await expect(challenge()).rejects.toMatchObject({ code: "forbidden_url" });
    expect(tokens).toEqual([]);
  });
});

test("the type of an access token is not accepted as that of a grant", async () => {
  const { challenge } = employee({}, { authorization: () => ({ ...token, token_type: "N_A" }) });
  await expect(challenge()).rejects.toMatchObject({ code: "authorization_failed" });
});

test("an identity provider without a client is rejected immediately", () => {
  expect(() => employee({ identityProvider: { issuer: idp } as never })).toThrow(
    "identityProvider.client.id is required: the client ID at the authorization server.",
  );
});

describe("the audience of the grant of an identity provider", () => {
  const jwt = (claims: object): string =>
    `${[{ alg: "none" }, claims].map((part) => btoa(JSON.stringify(part)).replace(/=+$/, "")).join(".")}.`;

  test("is the authorization server", async () => {
    const assertion = jwt({ aud: "https://as.example" });
    const { challenge, tokens } = employee({}, { provider: () => ({ ...grant, access_token: assertion }) });
    expect(await challenge()).toBe(true);
    expect(tokens[1]?.parameters.assertion).toBe(assertion);
  });

  test.each([{ aud: "https://other.example" }, { aud: [] }, {}])(
    "%j is another one, and the grant is not sent",
    async (claims) => {
      const { challenge, tokens } = employee({}, { provider: () => ({ ...grant, access_token: jwt(claims) }) });
      await expect(challenge()).rejects.toMatchObject({
        code: "authorization_failed",
        message: expect.stringContaining('it was requested for "https://as.example"'),
      });
      expect(tokens).toHaveLength(1);
    },
  );
});
