import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { makeCertificate } from "mcparley-tests/support/certificates.ts";
import { startForwardProxy } from "mcparley-tests/support/forward-proxy.ts";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../serve/testing/temporary-folder.ts";
import { type ModelSurroundings, openModel } from "./open-model.ts";
import { ask, chunk, hello, scriptedEndpoint, textOf } from "./testing/scripted-endpoint.ts";

const authority = makeCertificate({ name: "Test authority" });
const certificate = makeCertificate({ name: "server", issuer: authority, hosts: ["llm.corp"] });

const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
beforeEach(() => {
  for (const name of names.flatMap((one) => [one, one.toLowerCase()])) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

async function proxyWith(options?: Parameters<typeof startForwardProxy>[0]) {
  const proxy = await startForwardProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Asks a model at a base URL, and returns its answer. */
async function answerOf(baseUrl: string, connection?: ModelSurroundings["connection"]): Promise<string> {
  const home = await temporaryFolder({});
  const words = { model: "m", baseUrl, apiKeyEnv: undefined, provider: undefined };
  const chosen = await openModel(words, { cwd: home, env: { HOME: home }, platform: "linux", connection });
  if (!chosen) throw new Error("No model was chosen.");
  return textOf(await ask(chosen.model));
}

/** Starts an endpoint whose certificate has a private authority. Returns its port. */
async function secureEndpoint(): Promise<number> {
  const server = createServer(certificate, (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const part of [chunk({ content: "Secure." }), chunk({}, "stop")])
      response.write(`data: ${JSON.stringify(part)}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("the model of an endpoint", () => {
  test("is reached through the proxy of the environment, unless NO_PROXY names its host", async () => {
    const { origin, requests } = await scriptedEndpoint(hello);
    const url = `${origin.replace("127.0.0.1", "llm.invalid")}/v1`;
    const proxy = await proxyWith();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    expect(await answerOf(url)).toBe("Hello.");
    expect(proxy.requests.map(({ target }) => target)).toEqual([`${url}/chat/completions`]);
    vi.stubEnv("NO_PROXY", "invalid");
    await expect(answerOf(url, {})).rejects.toThrow("llm.invalid");
    expect([proxy.requests.length, requests.length]).toEqual([1, 1]);
  });

  test("is reached through a tunnel, with the authority of the command line", async () => {
    const port = await secureEndpoint();
    const proxy = await proxyWith({ credentials: "me:topsecret" });
    const connection = { proxy: `http://me:topsecret@${proxy.host}`, ca: authority.cert };
    expect(await answerOf(`https://llm.corp:${port}/v1`, connection)).toBe("Secure.");
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([`CONNECT llm.corp:${port}`]);
  });

  test("on this machine is reached directly, also if the command line names a proxy", async () => {
    const { url } = await scriptedEndpoint(hello);
    const proxy = await proxyWith();
    expect(await answerOf(url, { proxy: proxy.url })).toBe("Hello.");
    expect(proxy.requests).toEqual([]);
  });

  test("whose certificate has an unknown authority fails with a cure", async () => {
    const port = await secureEndpoint();
    const proxy = await proxyWith();
    const failure = answerOf(`https://llm.corp:${port}/v1`, { proxy: proxy.url });
    await expect(failure).rejects.toThrow(/certificate that is not trusted .*NODE_EXTRA_CA_CERTS/);
  });

  test("fails with the name of a proxy that refuses, and without its password", async () => {
    const proxy = await proxyWith({ credentials: "me:other" });
    vi.stubEnv("HTTPS_PROXY", `http://me:topsecret@${proxy.host}`);
    const error = await answerOf("https://llm.corp/v1", {}).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ name: "EndpointError", code: "unreachable" });
    expect(String(error)).toContain(proxy.host);
    expect(inspect(error, { depth: 9 })).not.toMatch(/topsecret|bWU6dG9wc2VjcmV0/);
  });
});
