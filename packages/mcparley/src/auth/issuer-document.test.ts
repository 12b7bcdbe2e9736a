import { describe, expect, test } from "vitest";
import { normalizeResponse, readDocument, unverifiedIdToken } from "./issuer-document.ts";

const read = (document: unknown): Promise<unknown> => readDocument(Response.json(document));
const normalized = async (document: unknown, init?: ResponseInit): Promise<unknown> =>
  (await normalizeResponse(Response.json(document, init))).json();

describe("a member of a document", () => {
  test.each<[string, unknown, unknown]>([
    ["expires_in", 3600, 3600],
    ["expires_in", "3600", 3600],
    ["expires_in", " 3600 ", 3600],
    ["expires_in", 0.5, 0.5],
    ["expires_in", 999_999_999_999, 999_999_999_999],
    ["expires_in", 1e12, undefined],
    ["expires_in", "1e400", undefined],
    ["expires_in", 0, undefined],
    ["expires_in", "0", undefined],
    ["expires_in", -1, undefined],
    ["expires_in", "", undefined],
    ["expires_in", " ", undefined],
    ["expires_in", "1h", undefined],
    ["expires_in", "NaN", undefined],
    ["expires_in", true, undefined],
    ["expires_in", [3600], undefined],
    ["expires_in", null, undefined],
    ["client_secret_expires_at", "0", 0],
    ["client_secret_expires_at", "1700000000", 1_700_000_000],
    ["client_secret_expires_at", "never", undefined],
    ["scope", "a b", "a b"],
    ["scope", "a,b", "a b"],
    ["scope", "a, b", "a b"],
    ["scope", "a fields(b,c)", "a fields(b,c)"],
    ["scope", ["a", "b", 1], "a b"],
    ["scope", {}, undefined],
    ["scope", "", undefined],
    ["refresh_token", 1, undefined],
    ["refresh_token", "r", "r"],
    ["id_token", {}, undefined],
    ["client_secret", null, undefined],
    ["token_endpoint_auth_method", [], undefined],
    ["error_description", { text: "x" }, undefined],
    ["registration_endpoint", false, undefined],
    ["scopes_supported", "a b", ["a", "b"]],
    ["scopes_supported", [], undefined],
    ["scopes_supported", [1, "a"], ["a"]],
    ["code_challenge_methods_supported", { S256: true }, undefined],
    ["grant_types_supported", { a: 1 }, undefined],
    ["grant_types_supported", "authorization_code refresh_token", ["authorization_code", "refresh_token"]],
    ["grant_types_supported", 5, undefined],
    ["pushed_authorization_request_endpoint", ["x"], undefined],
    ["require_pushed_authorization_requests", "true", true],
    ["require_pushed_authorization_requests", "constructor", undefined],
    ["require_pushed_authorization_requests", [true], undefined],
    ["authorization_response_iss_parameter_supported", "false", false],
    ["client_id_metadata_document_supported", 1, undefined],
    ["dpop_bound_access_tokens_required", "true", true],
    ["token_type", " Bearer ", "Bearer"],
    ["token_type", " ", undefined],
    ["constructor", "x", "x"],
    ["not_understood", { a: null }, { a: null }],
    ["not_understood", null, undefined],
  ])("%s %j becomes %j", async (name, value, expected) => {
    expect(await read({ other: 1, [name]: value })).toEqual({
      other: 1,
      ...(expected !== undefined && { [name]: expected }),
    });
  });
});

describe("the body of a document", () => {
  const type = (name: string): ResponseInit => ({ headers: { "content-type": name } });

  test.each([
    [
      "a form by its media type",
      "a=1&b=%C3%BC",
      "application/x-www-form-urlencoded; charset=utf-8",
      { a: "1", b: "ü" },
    ],
    ["JSON of any media type", '{"a":1}', "text/html", { a: 1 }],
    ["JSON of the media type of a form", '{"a":1}', "application/x-www-form-urlencoded", { a: 1 }],
    ["JSON after a byte order mark", '\ufeff{"a":1}', "application/json", { a: 1 }],
    ["no document if it is a form without its media type", "a=1", "text/plain", undefined],
    ["no document if it is a page", "<p>a=1</p>", "text/html", undefined],
    ["no document if it is a list", "[1]", "application/json", undefined],
    ["no document if it is empty", "", "application/json", undefined],
  ])("is %s", async (_, body, media, expected) => {
    const response = new Response(body, type(media));
    expect(await readDocument(response)).toEqual(expected);
    expect(response.bodyUsed).toBe(false);
  });
});

describe("a response of an endpoint", () => {
  test.each([200, 201, 202, 203, 226, 299])("is a success with status %i", async (status) => {
    const response = await normalizeResponse(Response.json({ client_id: "a" }, { status }), 201);
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ client_id: "a" });
  });

  test.each([
    ["without a body", new Response(null, { status: 204 })],
    ["with a page", new Response("<h1>Sign in to the proxy</h1>", { status: 203 })],
  ])("fails with the response as the cause %s", async (_, response) => {
    await expect(normalizeResponse(response)).rejects.toMatchObject({ cause: response });
    expect(response.bodyUsed).toBe(false);
  });

  test.each([[{}], [{ expires_in: null }], [{ expires_in: 0 }]])(
    "has a lifetime if it is that of a pushed request with %j",
    async (members) => {
      expect(await normalized({ request_uri: "urn:a", ...members })).toEqual({ request_uri: "urn:a", expires_in: 60 });
    },
  );

  test("has its ID token under another name, so that its claims cannot fail the response", async () => {
    expect(await normalized({ access_token: "t", token_type: "DPoP", id_token: "a.b.c" })).toEqual({
      access_token: "t",
      token_type: "DPoP",
      [unverifiedIdToken]: "a.b.c",
    });
  });

  test.each([400, 401, 404, 429, 500, 503])("is a refusal with status %i and its headers", async (status) => {
    const headers = { "content-type": "text/plain", "www-authenticate": "Basic" };
    const response = await normalizeResponse(
      new Response('{"error":"a","error_description":null}', { status, headers }),
    );
    expect(response.status).toBe(status);
    expect(response.headers.get("www-authenticate")).toBe("Basic");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ error: "a" });
  });

  test("keeps a refusal that is no document", async () => {
    const response = new Response("<p>no</p>", { status: 400 });
    expect(await normalizeResponse(response)).toBe(response);
  });

  test.each([
    { error: "a", error_description: "b" },
    { ok: false, error: "a", error_description: "b" },
    { access_token: "t", error: "a", error_description: "b" },
  ])("is a refusal if it contains an error: %j", async (document) => {
    await expect(normalized(document)).rejects.toMatchObject({ error: "a", error_description: "b", status: 200 });
  });

  test.each([[null], [""], [{}]])("is no refusal with the error %j", async (error) => {
    expect(await normalized({ access_token: "t", error })).toMatchObject({ access_token: "t" });
  });
});

describe("the type of a token", () => {
  test.each([[undefined], [null], [""], [1], ["bot"], ["user"]])("is Bearer instead of %j", async (type) => {
    expect(await normalized({ access_token: "t", token_type: type })).toEqual({
      access_token: "t",
      token_type: "Bearer",
    });
  });

  test.each(["Bearer", "bearer", "DPoP", "mac", "N_A"])("%s is not changed", async (type) => {
    expect(await normalized({ access_token: "t", token_type: type })).toEqual({ access_token: "t", token_type: type });
  });

  test.each(["bot", "user", undefined])("%s is not changed in a document without a token", async (type) => {
    expect(await normalized({ active: true, token_type: type })).toEqual({
      active: true,
      ...(type && { token_type: type }),
    });
  });
});

test("the token of a user is read from a member only if there is no other token", async () => {
  const user = { id: "U1", access_token: "of-user", scope: "a,b", token_type: "user", refresh_token: null };
  expect(await normalized({ ok: true, authed_user: user })).toMatchObject({
    access_token: "of-user",
    scope: "a b",
    token_type: "Bearer",
  });
  expect(await normalized({ access_token: "t", authed_user: user })).toMatchObject({ access_token: "t" });
});

test("a secret without a time expires never", async () => {
  expect(await normalized({ client_id: "a", client_secret: "s", client_secret_expires_at: "x" })).toMatchObject({
    client_secret_expires_at: 0,
  });
  expect(await normalized({ client_id: "a", client_secret: "s", client_secret_expires_at: "5" })).toMatchObject({
    client_secret_expires_at: 5,
  });
  expect(await normalized({ client_id: "a" })).toEqual({ client_id: "a" });
});
