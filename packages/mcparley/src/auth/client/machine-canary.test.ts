import { inspect } from "node:util";
import { exportPKCS8, generateKeyPair } from "jose";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sendHttp } from "../../http/client/send.ts";
import { type HttpAuth, readHttpTarget } from "../../http/client/settings.ts";
import {
  type AnswerToken,
  type AskedToken,
  authorizationDocuments,
  tokenServer,
} from "mcparley-tests/support/token-server.ts";
import { clientCredentials, enterpriseManaged, workloadIdentity } from "./machine-grants.ts";
import type { MachineOptions } from "./options.ts";

let written: unknown[][] = [];
beforeEach(() => {
  written = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  }
});
afterEach(() => vi.restoreAllMocks());

const idp = "https://idp.example";
const secret = "s3cr3t-of-the-client-4711";
const identity = "s3cr3t-identity-of-the-person";
const assertion = "s3cr3t-assertion-of-the-platform";
const grant = "s3cr3t-grant-of-the-provider";
const token = "s3cr3t-access-token";
const client = { id: "machine", secret };
const identityProvider = { issuer: idp, tokenEndpoint: `${idp}/token`, client };

const ways: [string, (options: MachineOptions) => HttpAuth | Promise<HttpAuth>][] = [
  ["a secret in the header", (options) => clientCredentials({ ...options, client })],
  [
    "a secret in the body",
    (options) => clientCredentials({ ...options, client: { ...client, method: "client_secret_post" } }),
  ],
  [
    "a private key, with tokens bound to another",
    async (options) => clientCredentials({ ...options, dpop: true, client: { id: "machine", privateKey: await pem } }),
  ],
  [
    "the identity of a workload",
    (options) => workloadIdentity({ ...options, client: { id: "job" }, assertion: () => assertion }),
  ],
  [
    "the identity of a person",
    (options) => enterpriseManaged({ ...options, client, identityProvider, identity: () => identity }),
  ],
];
const pem = generateKeyPair("ES256", { extractable: true }).then(({ privateKey }) => exportPKCS8(privateKey));

/** Returns the secrets that the client sent, in each encoding that it used. */
async function secretsOf(asked: readonly AskedToken[]): Promise<string[]> {
  const hidden = ["client_secret", "client_assertion", "assertion", "subject_token"];
  const sent = asked.flatMap(({ parameters, headers }) => [
    ...hidden.flatMap((name) => parameters[name] ?? []),
    ...(headers.get("authorization")?.split(" ").slice(1) ?? []),
  ]);
  const keyLines = (await pem).split("\n").filter((line) => line.length > 40 && !line.startsWith("--"));
  return [secret, identity, assertion, grant, token, ...keyLines, ...sent];
}

/** Makes a call with one kind of authorization and a scripted answer. Returns the outcome and all visible output. */
async function watch(
  make: (options: MachineOptions) => HttpAuth | Promise<HttpAuth>,
  answer: AnswerToken,
): Promise<{ outcome: unknown; visible: string; asked: readonly AskedToken[] }> {
  const served = tokenServer(authorizationDocuments(), answer);
  const errors: unknown[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const auth = await make({ issuer: "https://as.example", fetch: served.fetch, onError });
  const serve: typeof fetch = async (_, init) => {
    const isKnown = new Headers(init?.headers).get("authorization")?.endsWith(token) ?? false;
    return new Response(null, isKnown ? { status: 202 } : { status: 401, headers: { "www-authenticate": "Bearer" } });
  };
  const settings = readHttpTarget({ url: "https://mcp.example/mcp", auth, fetch: serve });
  const { signal } = new AbortController();
  const outcome = await sendHttp(settings, { method: "POST", headers: {}, body: "{}", signal })
    .then(({ status }) => status)
    .catch((error: unknown) => error);
  const visible = inspect([outcome, errors, written, auth], {
    depth: Infinity,
    showHidden: true,
    maxStringLength: Infinity,
  });
  return { outcome, visible, asked: served.tokens };
}

const good: AnswerToken = ({ url, headers }) =>
  url.startsWith(idp)
    ? { access_token: grant, issued_token_type: "urn:ietf:params:oauth:token-type:id-jag", token_type: "N_A" }
    : { access_token: token, token_type: headers.has("dpop") ? "DPoP" : "Bearer" };

test.each(ways)("a call logs no secret: %s", async (_, make) => {
  const { outcome, visible, asked } = await watch(make, good);
  expect(outcome).toBe(202);
  for (const value of await secretsOf(asked)) expect(visible).not.toContain(value);
});

/** Answers that repeat the sent values, in every format of an answer. */
const repeating: [string, (sent: string) => Response][] = [
  ["in a refusal", (sent) => Response.json({ error: "invalid_grant", error_description: sent }, { status: 400 })],
  ["as the code of a refusal", (sent) => Response.json({ error: sent }, { status: 400 })],
  ["in what is no JSON", (sent) => new Response(sent)],
  ["in a token of an unknown type", (sent) => Response.json({ access_token: sent, token_type: "mac" })],
  ["in a token that is not bound as it should be", (sent) => Response.json({ access_token: sent, token_type: "N_A" })],
  ["in a status", (sent) => new Response(sent, { status: 500 })],
];

const repeated = ways.flatMap(([way, make]) => repeating.map(([how, answer]) => ({ way, make, how, answer })));

test.each(repeated)(
  "a secret that a server repeats does not appear in the output: $way, $how",
  async ({ make, answer }) => {
    const repeat: AnswerToken = ({ parameters, headers }) =>
      answer([...Object.values(parameters), headers.get("authorization"), headers.get("dpop")].join(" "));
    const { outcome, visible, asked } = await watch(make, repeat);
    expect(outcome).toMatchObject({ code: "authorization_failed" });
    expect(asked.length).toBeGreaterThan(0);
    for (const value of await secretsOf(asked)) expect(visible).not.toContain(value);
  },
);

test("a provider's grant that an authorization server repeats does not appear in the output", async () => {
  const [, make] = ways.at(-1)!;
  const { outcome, visible } = await watch(make, (asked) =>
    asked.url.startsWith(idp)
      ? good(asked)
      : Response.json({ error: "invalid_grant", error_description: asked.parameters.assertion }, { status: 400 }),
  );
  expect(outcome).toMatchObject({ code: "authorization_failed", data: { issuer: "https://as.example" } });
  expect(visible).not.toContain(grant);
});
