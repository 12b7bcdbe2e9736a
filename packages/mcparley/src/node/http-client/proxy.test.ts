import { describe, expect, test } from "vitest";
import type { LocalError } from "../../rpc/errors.ts";
import { type Environment, proxyFor } from "./proxy.ts";

const proxy = "http://proxy.example:3128";

function chosen(url: string, env: Environment): string | undefined {
  return proxyFor(new URL(url), undefined, env)?.url.origin;
}

describe("the variables of the environment", () => {
  test.each<[string, string, Environment, string | undefined]>([
    ["no variable", "https://a.example/", {}, undefined],
    ["HTTPS_PROXY for https", "https://a.example/", { HTTPS_PROXY: proxy }, proxy],
    ["https_proxy for https", "https://a.example/", { https_proxy: proxy }, proxy],
    ["HTTPS_PROXY not for http", "http://a.example/", { HTTPS_PROXY: proxy }, undefined],
    ["HTTP_PROXY for http", "http://a.example/", { HTTP_PROXY: proxy }, proxy],
    ["http_proxy for http", "http://a.example/", { http_proxy: proxy }, proxy],
    ["HTTP_PROXY not for https", "https://a.example/", { HTTP_PROXY: proxy }, undefined],
    ["ALL_PROXY for https", "https://a.example/", { ALL_PROXY: proxy }, proxy],
    ["all_proxy for http", "http://a.example/", { all_proxy: proxy }, proxy],
    ["the scheme's own before ALL_PROXY", "https://a.example/", { ALL_PROXY: "http://x", HTTPS_PROXY: proxy }, proxy],
    ["lower case first", "https://a.example/", { HTTPS_PROXY: "http://x", https_proxy: proxy }, proxy],
    ["an empty value is not set", "https://a.example/", { https_proxy: "", HTTPS_PROXY: proxy }, proxy],
    ["a value without scheme is http", "https://a.example/", { HTTPS_PROXY: "proxy.example:3128" }, proxy],
    ["an https proxy", "https://a.example/", { HTTPS_PROXY: "https://p.example" }, "https://p.example"],
  ])("%s", (_, url, env, expected) => expect(chosen(url, env)).toBe(expected));

  test.each(["localhost", "127.0.0.1", "127.8.9.1", "[::1]"])("never apply to %s", (host) => {
    expect(chosen(`http://${host}:3000/mcp`, { HTTP_PROXY: proxy, ALL_PROXY: proxy })).toBeUndefined();
    expect(chosen(`https://${host}:3000/mcp`, { HTTPS_PROXY: proxy })).toBeUndefined();
  });

  test("HTTP_PROXY is ignored in a CGI program, where the sender of a request chooses its value", () => {
    const cgi = { REQUEST_METHOD: "GET", HTTP_PROXY: "http://evil.example" };
    expect(chosen("http://a.example/", cgi)).toBeUndefined();
    expect(chosen("http://a.example/", { ...cgi, http_proxy: proxy })).toBe(proxy);
    expect(chosen("https://a.example/", { ...cgi, HTTPS_PROXY: proxy })).toBe(proxy);
  });
});

describe("NO_PROXY", () => {
  test.each<[list: string, url: string, isDirect: boolean]>([
    ["*", "https://a.example/", true],
    ["b.example, *", "https://a.example/", true],
    ["example.com", "https://example.com/", true],
    ["example.com", "https://api.example.com/", true],
    ["example.com", "https://notexample.com/", false],
    ["example.com", "https://example.com.evil.example/", false],
    [".example.com", "https://api.example.com/", true],
    [".example.com", "https://example.com/", true],
    ["*.example.com", "https://api.example.com/", true],
    ["EXAMPLE.com.", "https://api.example.COM./", true],
    ["example.com:8443", "https://example.com:8443/", true],
    ["example.com:8443", "https://example.com/", false],
    ["example.com:443", "https://example.com/", true],
    ["example.com:80", "http://example.com/", true],
    ["a.example b.example", "https://b.example/", true],
    ["a.example,b.example", "https://b.example/", true],
    ["bücher.example", "https://bücher.example/", true],
    ["10.1.2.3", "https://10.1.2.3/", true],
    ["10.1.2.3:8080", "http://10.1.2.3:8080/", true],
    ["10.1.2.3:8080", "http://10.1.2.3/", false],
    ["2.3", "https://10.1.2.3/", false],
    ["10.0.0.0/8", "https://10.1.2.3/", true],
    ["10.0.0.0/8", "https://11.1.2.3/", false],
    ["10.0.0.0/33", "https://10.1.2.3/", false],
    ["10.0.0.0/", "https://10.1.2.3/", false],
    ["10.0.0.0/8", "https://ten.example/", false],
    ["0.0.0.0/0", "https://a.example/", false],
    ["10.0.0.0/8", "https://[::ffff:10.1.2.3]/", true],
    ["fd00::/8", "https://[fd12::1]/", true],
    ["fd00::/8", "https://[fe80::1]/", false],
    ["2001:db8::1", "https://[2001:db8:0::1]/", true],
    ["[2001:db8::1]", "https://[2001:db8::1]/", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]:8443/", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]/", false],
    [":::", "https://a.example/", false],
    [".", "https://a.example/", false],
    ["", "https://a.example/", false],
  ])("%j and %s: direct is %s", (list, url, isDirect) => {
    const variables = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
    for (const name of ["NO_PROXY", "no_proxy"]) {
      expect(chosen(url, { ...variables, [name]: list })).toBe(isDirect ? undefined : proxy);
    }
  });

  test("no_proxy has precedence over NO_PROXY", () => {
    const env = { HTTPS_PROXY: proxy, NO_PROXY: "*", no_proxy: "other.example" };
    expect(chosen("https://a.example/", env)).toBe(proxy);
  });
});

describe("the option", () => {
  const env = { HTTPS_PROXY: "http://other.example", NO_PROXY: "*" };

  test("false connects directly", () => {
    expect(proxyFor(new URL("https://a.example/"), false, { HTTPS_PROXY: proxy })).toBeUndefined();
  });

  test("a URL replaces the environment, also for loopback and hosts in NO_PROXY", () => {
    for (const given of [proxy, new URL(proxy)]) {
      expect(proxyFor(new URL("https://a.example/"), given, env)?.url.origin).toBe(proxy);
      expect(proxyFor(new URL("http://localhost:1/"), given, env)?.url.origin).toBe(proxy);
    }
  });
});

describe("the credentials of a proxy", () => {
  test.each([
    ["http://me:secret@p.example", "me:secret"],
    ["http://me@p.example", "me:"],
    ["me:secret@p.example:3128", "me:secret"],
    ["http://me%40corp:p%23s%2Fs%20%25@p.example", "me@corp:p#s/s %"],
    ["http://me:100%@p.example", "me:100%"],
    ["http://j%C3%BCrgen:%FF@p.example", "jürgen:%FF"],
  ])("of %s are sent and not part of its URL", (given, credentials) => {
    const found = proxyFor(new URL("https://a.example/"), given, {});
    expect(found?.authorization).toBe(`Basic ${Buffer.from(credentials).toString("base64")}`);
    expect(found?.url.href).not.toMatch(/@|secret/);
  });

  test("are absent without a user", () => {
    expect(proxyFor(new URL("https://a.example/"), proxy, {})?.authorization).toBeUndefined();
  });
});

describe("a value that is no proxy", () => {
  const failure = (given: string | undefined, env: Environment): LocalError => {
    try {
      proxyFor(new URL("https://a.example/"), given, env);
    } catch (error) {
      return error as LocalError;
    }
    throw new Error("The value was accepted.");
  };

  test.each([
    "http://",
    "not a url",
    "http://user:topsecret",
    "http://user:top#secret@p.example",
    "http://user:top/secret@p.example",
    "http://user:1#topsecret@p.example",
    "http://p.example/path",
    "",
  ])("%j is refused, and is not in the error", (given) => {
    const error = failure(given, {});
    expect(error).toMatchObject({ name: "LocalError", code: "invalid_target" });
    expect(error.message).toMatch(/^connection\.proxy is not the URL of a proxy\. Set it to a URL such as /);
    expect(String(error.stack)).not.toMatch(/topsecret|user:/);
  });

  test("the error of a variable names the variable", () => {
    expect(failure(undefined, { https_proxy: "http://:1" }).message).toMatch(/^https_proxy is not the URL/);
    expect(failure(undefined, { ALL_PROXY: "socks5://user:topsecret@p.example" }).message).toBe(
      'ALL_PROXY has the protocol "socks5". Set it to an http or https proxy, such as http://proxy.example.com:3128.',
    );
  });
});
