import { expect, test } from "vitest";
import {
  type AnswerToken,
  type AskedToken,
  authorizationDocuments,
  tokenServer,
} from "mcparley-tests/support/token-server.ts";
import { workloadIdentity } from "./machine-grants.ts";
import type { WorkloadIdentityOptions } from "./options.ts";

const server = new URL("https://mcp.example/mcp");
const request = { url: server, method: "POST", server };
const token = { access_token: "the-token", token_type: "Bearer", expires_in: 3600 };

function workload(
  assertion: WorkloadIdentityOptions["assertion"],
  answer: AnswerToken = () => token,
): { challenge: () => Promise<boolean>; shown: () => Promise<object>; tokens: readonly AskedToken[] } {
  const served = tokenServer(authorizationDocuments(), answer);
  const auth = workloadIdentity({
    issuer: "https://as.example",
    client: { id: "job" },
    assertion,
    fetch: served.fetch,
  });
  const challenge = (): Promise<boolean> => {
    const headers = new Headers({ "www-authenticate": 'Bearer scope="run"' });
    return auth.challenged(
      { status: 401, headers, request, shown: {}, repeated: 0, challenges: 0 },
      new AbortController().signal,
    );
  };
  return { challenge, shown: async () => auth.headers(request), tokens: served.tokens };
}

test("the assertion of the platform is exchanged for a token", async () => {
  const asked: unknown[] = [];
  const { challenge, shown, tokens } = workload((what) => {
    asked.push(what);
    return Promise.resolve("the-jwt");
  });
  expect(await challenge()).toBe(true);
  expect(await shown()).toEqual({ authorization: "Bearer the-token" });
  expect(asked).toEqual([{ issuer: "https://as.example", resource: "https://mcp.example/mcp" }]);
  expect(tokens.map(({ parameters, headers }) => [parameters, headers.get("authorization")])).toEqual([
    [
      {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: "the-jwt",
        scope: "run",
        resource: "https://mcp.example/mcp",
        client_id: "job",
      },
      null,
    ],
  ]);
});

test.each(["invalid_grant", "invalid_scope", "unauthorized_client"])(
  "an assertion that is refused (%s) is not sent again, and no other grant is tried",
  async (error) => {
    const { challenge, tokens } = workload(
      () => "the-jwt",
      () => Response.json({ error }, { status: 400 }),
    );
    await expect(challenge()).rejects.toMatchObject({ code: "authorization_failed", data: { error } });
    expect(tokens).toHaveLength(1);
  },
);

test.each<[string, WorkloadIdentityOptions["assertion"], string]>([
  ["fails", () => Promise.reject(new Error("no service account")), "failed: no service account"],
  ["is empty", () => "", "returned an empty credential."],
])("an assertion that %s fails the call, and no request is sent", async (_, assertion, why) => {
  const { challenge, tokens } = workload(assertion);
  await expect(challenge()).rejects.toMatchObject({
    code: "authorization_failed",
    message: `The option assertion ${why}`,
  });
  expect(tokens).toEqual([]);
});
