import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { type Certificate, makeCertificate } from "mcparley-tests/support/certificates.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import { secureContextOf, withDefaults } from "./certificates.ts";

const authority = makeCertificate({ name: "Test authority" });
const other = makeCertificate({ name: "Other authority" });
const server = makeCertificate({ name: "server", issuer: authority, hosts: ["localhost"] });
const client = makeCertificate({ name: "client", issuer: authority, hosts: ["client.example"] });

const closers: (() => unknown)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** Opens a connection to a server with this certificate. Resolves with the name of the client certificate, or an error code. */
async function handshake(shown: Certificate, connection: HttpConnection, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const listener = tls.createServer({ ...shown, requestCert: true, rejectUnauthorized: false }, (socket) => {
    const { subject } = socket.getPeerCertificate();
    socket.on("error", () => {}).end(subject ? subject.CN : "no client certificate");
  });
  listener.on("tlsClientError", () => {});
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  closers.push(() => listener.close());
  const { port } = listener.address() as AddressInfo;
  const secureContext = secureContextOf(connection, env);
  const socket = tls.connect({
    host: "127.0.0.1",
    port,
    servername: "localhost",
    ...(secureContext && { secureContext }),
  });
  socket.setEncoding("utf8");
  try {
    const [text] = (await once(socket, "data")) as [string];
    return text;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

describe("certificate authorities", () => {
  test("a server of an unknown authority is refused, and accepted with the option", async () => {
    expect(await handshake(server, {})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(await handshake(server, { ca: other.cert })).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(await handshake(server, { ca: authority.cert })).toBe("no client certificate");
  });

  test("are texts, bytes, several in one file, or a list of them", async () => {
    const both = `# corporate\n${other.cert}\n${authority.cert}`;
    for (const ca of [Buffer.from(authority.cert), both, Buffer.from(both), [other.cert, Buffer.from(authority.cert)]])
      expect(await handshake(server, { ca })).toBe("no client certificate");
  });

  test("are trusted in addition to those that Node trusts", () => {
    const trusted = withDefaults(other.cert, {});
    expect(trusted).toContain(other.cert.trim());
    for (const root of tls.rootCertificates) expect(trusted).toContain(root);
  });

  test.skipIf("getCACertificates" in tls)("the file of NODE_EXTRA_CA_CERTS remains trusted", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcparley ca "));
    closers.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "extra.pem");
    writeFileSync(file, authority.cert);
    expect(await handshake(server, { ca: other.cert }, { NODE_EXTRA_CA_CERTS: file })).toBe("no client certificate");
    const missing = { NODE_EXTRA_CA_CERTS: join(folder, "missing.pem") };
    expect(await handshake(server, { ca: other.cert }, missing)).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });
});

describe("a client certificate", () => {
  test("is sent with its key", async () => {
    const { cert, key } = client;
    expect(await handshake(server, { ca: authority.cert, cert, key })).toBe("client");
    const bytes = { cert: Buffer.from(cert), key: Buffer.from(key) };
    expect(await handshake(server, { ca: authority.cert, ...bytes })).toBe("client");
  });

  test.each(["pkcs8", "sec1"] as const)("is sent with an encrypted key (%s)", async (type) => {
    const cipher = "aes-256-cbc";
    const key = String(createPrivateKey(client.key).export({ type, format: "pem", cipher, passphrase: "open sesame" }));
    const connection = { ca: authority.cert, cert: client.cert, key, passphrase: "open sesame" };
    expect(await handshake(server, connection)).toBe("client");
    expect(() => secureContextOf({ ...connection, passphrase: "wrong" }, {})).toThrow(
      "connection.passphrase is not the passphrase of connection.key. Correct it.",
    );
    expect(() => secureContextOf({ ...connection, passphrase: undefined }, {})).toThrow(
      "connection.key is encrypted. Set connection.passphrase.",
    );
  });
});

test("a connection without certificates uses the defaults of Node", () => {
  expect(secureContextOf({ proxy: false, passphrase: "unused" }, {})).toBeUndefined();
});

test.each<[string, HttpConnection, string]>([
  ["a ca without PEM", { ca: "topsecret" }, "connection.ca contains no certificate in PEM format, which"],
  ["a ca in DER", { ca: Buffer.from([0x30, 0x82]) }, "connection.ca contains no certificate in PEM format, which"],
  ["an empty list", { ca: [] }, "connection.ca is an empty list."],
  ["a list with an empty text", { ca: [authority.cert, ""] }, "connection.ca contains no certificate"],
  [
    "a damaged ca",
    { ca: authority.cert + other.cert.replace(/\nM../, "\nAAA") },
    "Certificate 2 of 2 in connection.ca cannot be read.",
  ],
  ["a cert without key", { cert: client.cert }, "connection.cert is set without connection.key."],
  ["a key without cert", { key: client.key }, "connection.key is set without connection.cert."],
  ["a cert without PEM", { cert: client.key, key: client.key }, "connection.cert contains no certificate"],
  ["a key without PEM", { cert: client.cert, key: "topsecret" }, "connection.key contains no private key"],
  [
    "a damaged key",
    { cert: client.cert, key: "-----BEGIN PRIVATE KEY-----\ntopsecret\n-----END PRIVATE KEY-----" },
    "connection.key cannot be read.",
  ],
  ["the key of another cert", { cert: client.cert, key: server.key }, "connection.key is not the private key of"],
])("%s is refused", (_, connection, message) => {
  let error: unknown;
  try {
    secureContextOf(connection, {});
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({
    name: "LocalError",
    code: "invalid_target",
    message: expect.stringContaining(message),
  });
  expect(String((error as Error).stack)).not.toMatch(/topsecret|open sesame|\nM[A-Z]/);
  expect((error as Error).cause).toBeUndefined();
});
