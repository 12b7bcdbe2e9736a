import { afterEach, describe, expect, test } from "vitest";
import { type Finished, startCommand } from "../command/run-command.ts";
import { makeCertificate } from "../support/certificates.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { type SecureServer, authority, clientCertificate, serveSecurely } from "./served-securely.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const files = {
  "corporate.pem": authority.cert,
  "other.pem": makeCertificate({ name: "Other authority" }).cert,
  "client.pem": clientCertificate.cert,
  "client.key": clientCertificate.key,
};

async function serve(...options: Parameters<typeof serveSecurely>): Promise<SecureServer> {
  const secure = await serveSecurely(...options);
  closers.push(() => secure.close());
  return secure;
}

function run(words: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  return startCommand(words, { files, env }).finished;
}

/** The text without line breaks, which depend on the length of the port. */
const flat = (text: string): string => text.replace(/\s+/g, " ");

describe("a server whose authority is not trusted", () => {
  test("is refused, and the error names --cacert", async () => {
    const { localUrl } = await serve();
    const { code, err } = await run(["call", localUrl, "greet"]);
    expect(code).toBe(4);
    expect(flat(err)).toContain(
      "its certificate authority is not trusted. If you trust it, pass the certificate of its authority in --cacert, or its file in NODE_EXTRA_CA_CERTS.",
    );
  });

  test.each<[string, string[], Record<string, string>]>([
    ["--cacert", ["--cacert", "other.pem", "--cacert", "corporate.pem"], {}],
    ["NODE_EXTRA_CA_CERTS", [], { NODE_EXTRA_CA_CERTS: "corporate.pem" }],
    ["NODE_EXTRA_CA_CERTS beside --cacert", ["--cacert", "other.pem"], { NODE_EXTRA_CA_CERTS: "corporate.pem" }],
  ])("is used with %s", async (_, words, env) => {
    const { localUrl } = await serve();
    expect(await run(["call", localUrl, "greet", ...words], env)).toEqual({ code: 0, out: "Good morning.\n", err: "" });
  });
});

test("a server that requires a client certificate is used with --cert and --key", async () => {
  const { localUrl } = await serve({ ca: authority.cert, requestCert: true, rejectUnauthorized: true });
  const words = ["call", localUrl, "greet", "--cacert", "corporate.pem"];
  const { code, err } = await run(words);
  expect(code).toBe(4);
  expect(flat(err)).toContain("Pass a certificate that the server accepts in --cert, and its key in --key.");
  const accepted = await run([...words, "--cert", "client.pem", "--key", "client.key"]);
  expect(accepted).toEqual({ code: 0, out: "Good morning.\n", err: "" });
});

describe("a proxy", () => {
  test.each<[string, (url: string) => { words: string[]; env: Record<string, string> }]>([
    ["of --proxy", (url) => ({ words: ["--proxy", url], env: { NO_PROXY: "*", HTTPS_PROXY: "http://127.0.0.1:1" } })],
    ["of the environment", (url) => ({ words: [], env: { HTTPS_PROXY: url } })],
  ])("%s is used", async (_, settings) => {
    const { host, requests } = await startProxy();
    const { url } = await serve();
    const { words, env } = settings(`http://me:topsecret@${host}`);
    const called = await run(["call", url, "greet", "--cacert", "corporate.pem", ...words], env);
    expect(called).toEqual({ code: 0, out: "Good morning.\n", err: "" });
    expect(requests.length).toBeGreaterThan(0);
  });

  test("of the environment is not used for this machine", async () => {
    const { localUrl } = await serve();
    const env = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };
    expect(await run(["call", localUrl, "greet", "--cacert", "corporate.pem"], env)).toMatchObject({ code: 0 });
  });

  test.each(["--proxy", "HTTPS_PROXY"])(
    "that rejects the credentials of %s: the password is not shown",
    async (name) => {
      const { host } = await startProxy();
      const value = `http://me:wrong-secret@${host}`;
      const [words, env] = name === "--proxy" ? [["--proxy", value], {}] : [[], { HTTPS_PROXY: value }];
      for (const more of [["--verbose"], ["--json"]]) {
        const { code, out, err } = await run(["call", "https://mcp.example/mcp", "greet", ...words, ...more], env);
        expect(code).toBe(4);
        expect(flat(out + err)).toContain(
          `The proxy ${host} rejected the user and the password in ${name} (407). Correct them.`,
        );
        expect(out + err).not.toContain("wrong-secret");
      }
    },
  );
});

async function startProxy(): ReturnType<typeof startForwardProxy> {
  const proxy = await startForwardProxy({ credentials: "me:topsecret" });
  closers.push(() => proxy.close());
  return proxy;
}

test.each([
  [["--cacert", "client.key"], "--cacert contains no certificate in PEM format"],
  [["--cacert", "missing.pem"], "--cacert missing.pem does not exist."],
  [["--cert", "client.pem"], "--cert needs the private key of the certificate."],
  [["--cert", "other.pem", "--key", "client.key"], "--key is not the private key of the first certificate in --cert."],
  [["--proxy", "http://me:topsecret#@p.example"], "--proxy is not the URL of a proxy."],
])("%j fails with exit code 1", async (words, message) => {
  const { code, err } = await run(["call", "https://mcp.example/mcp", "greet", ...words]);
  expect(flat(err)).toContain(message);
  expect(err).not.toContain("topsecret");
  expect(code).toBe(1);
});
