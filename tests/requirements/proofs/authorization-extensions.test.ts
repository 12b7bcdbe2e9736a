import { decodeJwt, exportJWK, generateKeyPair } from "jose";
import { expect } from "vitest";
import { type MachineOptions, clientCredentials, enterpriseManaged, serverUrl } from "../library.ts";
import { proves } from "../proves.ts";
import { ID_JAG, idp, machines } from "../world/machines.ts";

const client = { id: "machine", secret: "a secret" };
const bySecret = (options: MachineOptions) => clientCredentials({ ...options, client });
const employee = (options: MachineOptions) =>
  enterpriseManaged({
    ...options,
    client,
    identityProvider: {
      issuer: idp,
      tokenEndpoint: `${idp}/token`,
      client: { id: "at-idp", secret: "another secret" },
    },
    identity: () => "the-id-token",
  });

async function signed(): Promise<(options: MachineOptions) => ReturnType<typeof clientCredentials>> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: "ES256" };
  return (options) => clientCredentials({ ...options, client: { id: "machine", privateKey: jwk } });
}

proves("authorization.extensions.declared", async (world) => {
  for (const [make, id] of [
    [bySecret, "io.modelcontextprotocol/oauth-client-credentials"],
    [employee, "io.modelcontextprotocol/enterprise-managed-authorization"],
  ] as const) {
    const { connect, declared } = machines(world);
    await (await connect(make)).callTool("greet");
    expect(declared.length).toBeGreaterThan(2);
    for (const extensions of declared) expect(extensions).toEqual({ [id]: {} });
  }
});

proves("authorization.extensions.opt-in", async (world) => {
  const { connect, declared, tokens } = machines(world);
  await expect(connect(undefined)).rejects.toMatchObject({ code: "unauthorized" });
  expect(declared).toEqual([undefined]);
  expect(tokens).toEqual([]);
});

proves("authorization.client-credentials.authenticated", async (world) => {
  const withSecret = machines(world);
  expect(await (await withSecret.connect(bySecret)).callTool("greet")).toBe("Hello");
  expect(withSecret.tokens[0]?.headers.get("authorization")).toBe(`Basic ${btoa("machine:a+secret")}`);
  const withKey = machines(world);
  await withKey.connect(await signed());
  expect(withKey.tokens[0]?.parameters).toMatchObject({
    grant_type: "client_credentials",
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  });
  expect(() => clientCredentials({ issuer: "https://as.example", client: { id: "machine" } })).toThrow(
    expect.objectContaining({ code: "invalid_definition" }),
  );
});

proves("authorization.client-credentials.not-registered", async (world) => {
  const unknown = (): Response => Response.json({ error: "invalid_client" }, { status: 401 });
  const { connect, tokens } = machines(world, unknown, { registration_endpoint: "https://as.example/register" });
  await expect(connect(bySecret)).rejects.toMatchObject({ data: { error: "invalid_client" } });
  expect(tokens.map(({ url }) => url)).toEqual(["https://as.example/token"]);
});

proves("authorization.client-credentials.baseline", async (world) => {
  const { connect, tokens, documents } = machines(world);
  await connect(bySecret);
  expect(documents).toEqual([
    "https://mcp.example/.well-known/oauth-protected-resource/mcp",
    "https://as.example/.well-known/oauth-authorization-server",
  ]);
  expect(tokens.map(({ parameters }) => parameters)).toEqual([
    { grant_type: "client_credentials", client_id: "machine", resource: serverUrl, scope: "greet" },
  ]);
});

proves("authorization.client-credentials.assertion-audience", async (world) => {
  const { connect, tokens } = machines(world);
  const make = await signed();
  await connect(make);
  await connect(make);
  const claims = tokens.map(({ parameters }) => decodeJwt(parameters.client_assertion ?? ""));
  for (const { aud, iss, sub, iat = 0, exp = 0 } of claims) {
    expect({ aud, iss, sub }).toEqual({ aud: "https://as.example", iss: "machine", sub: "machine" });
    expect(exp - iat).toBeLessThanOrEqual(60);
  }
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2);
});

proves("authorization.enterprise.token-exchange", async (world) => {
  const { connect, tokens } = machines(world);
  await connect(employee);
  expect(tokens[0]?.url).toEqual(`${idp}/token`);
  expect(tokens[0]?.parameters).toEqual({
    client_id: "at-idp",
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: ID_JAG,
    audience: "https://as.example",
    resource: serverUrl,
    scope: "greet",
    subject_token: "the-id-token",
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
  });
});

proves("authorization.enterprise.client-authentication", async (world) => {
  const { connect, tokens } = machines(world);
  await connect(employee);
  expect(tokens[0]?.headers.get("authorization")).toBe(`Basic ${btoa("at-idp:another+secret")}`);
});

proves("authorization.enterprise.issued-type", async (world) => {
  const { connect, tokens } = machines(world, () => ({
    access_token: "no-grant",
    issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
    token_type: "Bearer",
  }));
  await expect(connect(employee)).rejects.toMatchObject({ code: "authorization_failed", data: { issuer: idp } });
  expect(tokens).toHaveLength(1);
});

proves("authorization.enterprise.jwt-bearer", async (world) => {
  const { connect, tokens } = machines(world);
  expect(await (await connect(employee)).callTool("greet")).toBe("Hello");
  const { url, parameters, headers } = tokens[1]!;
  expect(url).toBe("https://as.example/token");
  expect(parameters.grant_type).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  expect(parameters.assertion).toBe("the-grant");
  expect(headers.get("authorization")).toBe(`Basic ${btoa("machine:a+secret")}`);
});
