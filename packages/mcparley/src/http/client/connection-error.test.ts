import { describe, expect, test } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import { connectionError } from "./connection-error.ts";

const url = new URL("https://example.com/mcp");
const system = (code: string, syscall?: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall && { syscall }) });
/** The error of undici, which is the `fetch` of Node. */
const fetchFailed = (cause: Error): Error => new TypeError("fetch failed", { cause });
const deno = (text: string): Error => new TypeError(`error sending request for url (https://example.com/mcp): ${text}`);

describe("an error without a connection has the code unreachable", () => {
  test.each([
    ["a refused connection", fetchFailed(system("ECONNREFUSED", "connect"))],
    ["all addresses refused", fetchFailed(Object.assign(new AggregateError([system("ECONNREFUSED", "connect")]), {}))],
    ["an unknown host", fetchFailed(system("ENOTFOUND", "getaddrinfo"))],
    ["a name server that does not answer", fetchFailed(system("EAI_AGAIN", "getaddrinfo"))],
    ["a name server in a direct query", system("ESERVFAIL", "queryA")],
    ["no route", fetchFailed(system("EHOSTUNREACH", "connect"))],
    ["no network", fetchFailed(system("ENETUNREACH", "connect"))],
    ["a connect timeout of the system", fetchFailed(system("ETIMEDOUT", "connect"))],
    ["a connect timeout of undici", fetchFailed(system("UND_ERR_CONNECT_TIMEOUT"))],
    ["a self-signed certificate", fetchFailed(system("DEPTH_ZERO_SELF_SIGNED_CERT"))],
    ["a certificate of another host", fetchFailed(system("ERR_TLS_CERT_ALTNAME_INVALID"))],
    ["an expired certificate", fetchFailed(system("CERT_HAS_EXPIRED"))],
    ["a port without TLS", fetchFailed(system("ERR_SSL_WRONG_VERSION_NUMBER"))],
    ["a refused handshake", fetchFailed(system("ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"))],
    ["a refused connection in Bun", system("ConnectionRefused")],
    ["an unknown host in Bun", system("FailedToOpenSocket")],
    [
      "a refused connection in Deno",
      deno("client error (Connect): tcp connect error: Connection refused (os error 111)"),
    ],
    ["an unknown host in Deno", deno("client error (Connect): dns error: failed to lookup address information")],
    ["a refused connection of node-fetch", system("ECONNREFUSED")],
  ])("%s", (_, error) => {
    expect(connectionError(url, error)).toMatchObject({ code: "unreachable", data: { host: "example.com" } });
  });
});

describe("an error after which the server may have received the request has the code closed", () => {
  test.each([
    ["a reset", fetchFailed(system("ECONNRESET", "read"))],
    ["a broken pipe", fetchFailed(system("EPIPE", "write"))],
    ["a socket that the server closed", fetchFailed(system("UND_ERR_SOCKET"))],
    ["a timeout of undici", fetchFailed(system("UND_ERR_HEADERS_TIMEOUT"))],
    ["a timeout on an open connection", fetchFailed(system("ETIMEDOUT", "read"))],
    ["a route that is lost on an open connection", fetchFailed(system("EHOSTUNREACH", "write"))],
    ["an invalid response", fetchFailed(system("HPE_INVALID_CONSTANT"))],
    ["a TLS record that cannot be read", fetchFailed(system("ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"))],
    [
      "a client certificate that the server requires after the handshake",
      system("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"),
    ],
    ["a closed connection in Bun", system("ConnectionClosed")],
    ["a reset in Deno", deno("client error (SendRequest): connection error: Connection reset by peer (os error 104)")],
    ["any error in a browser", new TypeError("Failed to fetch")],
    ["any error in Safari", new TypeError("Load failed")],
    ["a value that is not an error", "oops"],
    ["nothing", undefined],
  ])("%s", (_, error) => {
    const closed = connectionError(url, error);
    expect(closed).toMatchObject({ code: "closed", data: { host: "example.com" } });
    expect(closed.message).toMatch(/^The connection to example\.com failed before a response arrived: /);
  });
});

describe("the error of a failed TLS handshake names its meaning and its cure", () => {
  const openssl = (text: string): Error =>
    Object.assign(
      new Error(`write EPROTO 40EC00:error:0A00010B:SSL routines:ssl3_get_record:${text}:../ssl3_record.c:354:\n`),
      {
        code: "EPROTO",
        syscall: "write",
      },
    );

  test.each<[Error, "unreachable" | "closed", string, string]>([
    [
      system("DEPTH_ZERO_SELF_SIGNED_CERT"),
      "unreachable",
      "its certificate is self-signed. If you trust it, pass",
      "connection.ca",
    ],
    [
      system("SELF_SIGNED_CERT_IN_CHAIN"),
      "unreachable",
      "its certificate authority is not trusted. If",
      "NODE_EXTRA_CA_CERTS",
    ],
    [
      system("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
      "unreachable",
      "its certificate authority is not trusted.",
      "connection.ca",
    ],
    [
      system("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"),
      "unreachable",
      "its certificate authority is not trusted.",
      "connection.ca",
    ],
    [system("CERT_HAS_EXPIRED"), "unreachable", "its certificate has expired.", "Renew the certificate"],
    [system("CERT_NOT_YET_VALID"), "unreachable", "its certificate is not valid yet.", "Check the clocks"],
    [
      system("ERR_TLS_CERT_ALTNAME_INVALID"),
      "unreachable",
      "its certificate is for other host names.",
      "Use a host name of",
    ],
    [system("ERR_SSL_WRONG_VERSION_NUMBER"), "unreachable", "the port does not speak TLS.", "Use an http URL"],
    [openssl("wrong version number"), "unreachable", "the port does not speak TLS.", "Use an http URL"],
    [openssl("sslv3 alert handshake failure"), "unreachable", "it refused the TLS handshake.", "connection.cert"],
    [openssl("unknown"), "closed", "ERR_SSL_UNKNOWN.", ""],
    [
      system("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"),
      "closed",
      "it requires a client certificate.",
      "connection.cert",
    ],
    [
      system("ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE"),
      "closed",
      "it rejected the client certificate.",
      "connection.key",
    ],
    [system("ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"), "closed", "it rejected the client certificate.", "connection.cert"],
    [
      system("ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED"),
      "closed",
      "it rejected the client certificate.",
      "connection.cert",
    ],
  ])("%s", (error, code, meaning, cure) => {
    const shown = connectionError(url, error);
    expect(shown.code).toBe(code);
    expect(shown.message).toContain("example.com");
    expect(shown.message).toContain(meaning);
    expect(shown.message).toContain(cure);
  });
});

test("a LocalError is returned unchanged", () => {
  const error = new LocalError("invalid_target", "connection.ca contains no certificate.");
  expect(connectionError(url, error)).toBe(error);
});

test("a secret in the text of an error is not shown", () => {
  expect(connectionError(url, new TypeError("bad header Bearer abcdefghijkl")).message).not.toContain("abcdefghijkl");
});

test.each(["Failed to fetch", "Load failed", "NetworkError when attempting to fetch resource."])(
  "the error for the browser message %j names a cure",
  (text) => {
    const { message } = connectionError(url, new TypeError(text));
    expect(message).toContain("Check that https://example.com is reachable.");
    expect(message).toContain("the options cors and allowedOrigins");
    expect(message).not.toContain("An https page");
    const plain = connectionError(new URL("http://example.com/mcp"), new TypeError(text));
    expect(plain.message).toContain("An https page cannot call http.");
  },
);

test("an error of Node does not mention CORS", () => {
  expect(connectionError(url, fetchFailed(system("ECONNRESET", "read"))).message).not.toContain("CORS");
});
