import { enterpriseManaged } from "mcparley/auth";
import { authorizationDocuments, tokenServer } from "mcparley-tests/support/token-server.ts";
import { expect, test } from "vitest";

test("an identity provider may be on a private network, and the authorization server of a public server may not", async () => {
  const server = new URL("https://mcp.example/mcp");
  const request = { url: server, method: "POST", server };
  const type = "urn:ietf:params:oauth:token-type:id-jag";
  const challenge = async (authorizationServer: object): Promise<unknown> => {
    const { fetch, tokens } = tokenServer(authorizationDocuments({}, authorizationServer), ({ url }) =>
      url.startsWith("https://10.0.0.5/")
        ? { issued_token_type: type, access_token: "grant", token_type: "N_A", expires_in: 300 }
        : { access_token: "token", token_type: "Bearer", expires_in: 3600 },
    );
    const auth = enterpriseManaged({
      issuer: "https://as.example",
      client: { id: "client", secret: "secret" },
      identityProvider: {
        issuer: "https://10.0.0.5",
        tokenEndpoint: "https://10.0.0.5/token",
        client: { id: "client" },
      },
      identity: () => "identity",
      fetch,
    });
    const refusal = { status: 401, headers: new Headers(), request, shown: {}, repeated: 0, challenges: 0 };
    await auth.challenged(refusal, new AbortController().signal);
    return tokens.map(({ url }) => url);
  };
  expect(await challenge({})).toEqual(["https://10.0.0.5/token", "https://as.example/token"]);
  await expect(challenge({ token_endpoint: "https://10.0.0.5/token" })).rejects.toMatchObject({
    code: "forbidden_url",
  });
});
