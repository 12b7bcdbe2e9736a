import fc from "fast-check";
import { expandTemplate } from "mcparley-tests/support/expand-uri-template.ts";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { describe, expect, test } from "vitest";
import { scanningMatcher } from "./uri-template-match.ts";
import { parseParts } from "./uri-template-parse.ts";
import { parseTemplate } from "./uri-template.ts";

const match = (template: string, uri: string): unknown => {
  const found = parseTemplate(template).match(uri);
  return found && { ...found };
};

test.each([
  // Simple expansion.
  ["note://{id}", "note://a%20b", { id: "a b" }],
  ["note://{id}", "note://a:b@c", { id: "a:b@c" }],
  ["note://{id}", "note://", undefined],
  ["note://{id}", "note://a/b", undefined],
  ["note://{id}", "note://a?b", undefined],
  ["note://{id}", "NOTE://a", undefined],
  ["note://{id}", "note://%FF", undefined],
  ["note://{id}", "note://100%", undefined],
  ["note://{id}", "note://a%2Fb", { id: "a/b" }],
  ["{x,y}", "1024,768", { x: "1024", y: "768" }],
  ["{x,y}", "1024", { x: "1024" }],
  ["{list*}", "red,gr%2Ceen", { list: ["red", "gr,een"] }],
  ["{list}", "red,green", { list: "red,green" }],
  ["{a}-{b}", "1-2-3", { a: "1", b: "2-3" }],
  ["{a}2{b}", "%202x", { a: " ", b: "x" }],
  ["{a}{b}", "%C3%A9x", { a: "é", b: "x" }],
  ["{x:3}", "value", undefined],
  ["{x:3}", "%F0%9F%98%80ab", { x: "😀ab" }],
  // Reserved expansion: the match does not stop at the first possible end.
  ["file:///{+path}", "file:///a/b%20c.txt", { path: "a/b c.txt" }],
  ["{+path}/end", "a/end/b/end", { path: "a/end/b" }],
  ["file:///{+dir}/{name}", "file:///a/b/c", { dir: "a/b", name: "c" }],
  ["{+x}{+y}", "abc", { x: "a", y: "bc" }],
  ["{+path}{?q}", "a?b?q=1", { path: "a?b", q: "1" }],
  ["{+path}{#frag}", "a/b#c#d", { path: "a/b", frag: "c#d" }],
  // Optional expressions.
  ["{name}{.ext}", "report.pdf", { name: "report", ext: "pdf" }],
  ["{name}{.ext}", "report", { name: "report" }],
  ["{/a}/list", "/list", {}],
  ["{/a}/list", "/x/list", { a: "x" }],
  ["{/a}{/b}", "/x", { a: "x" }],
  ["{/path*}", "/a/b%2Fc/", { path: ["a", "b/c", ""] }],
  ["{/path*}", "", {}],
  ["www{.dom*}", "www.example.com", { dom: ["example", "com"] }],
  ["foo{#x}", "foo#", { x: "" }],
  ["foo{#x}", "foo", {}],
  // Named variables: in any order, all optional, no unknown names.
  ["s://{?q,lang}", "s://?lang=en&q=a%26b", { q: "a&b", lang: "en" }],
  ["s://{?q,lang}", "s://?lang=en", { lang: "en" }],
  ["s://{?q,lang}", "s://", {}],
  ["s://{?q,lang}", "s://?q=", { q: "" }],
  ["s://{?q,lang}", "s://?q", { q: "" }],
  ["s://{?q,lang}", "s://?", undefined],
  ["s://{?q,lang}", "s://?q=1&debug=1", undefined],
  ["s://{?q}", "s://?q=1&q=2", undefined],
  ["s://{?q}", "s://?Q=1", undefined],
  ["s://{?q}", "s://?q=a=b?c/d", { q: "a=b?c/d" }],
  ["s://{?q*}", "s://?q=1&q=2", { q: ["1", "2"] }],
  ["s://{?id,f*}", "s://?color=red&id=7&size=1", { id: "7", f: ["color=red", "size=1"] }],
  ["s://{?a}{&b}", "s://?b=2&a=1", { a: "1", b: "2" }],
  ["s://{?a}{&b}", "s://&b=2", { b: "2" }],
  ["s://?fixed=1{&x}", "s://?fixed=1&x=2", { x: "2" }],
  ["s://{?a}&fixed=1", "s://?a=1&fixed=1", { a: "1" }],
  ["s://{?a}{#f}", "s://?a=1#top", { a: "1", f: "top" }],
  ["m{;x,y}/z", "m;y=2;x=1/z", { x: "1", y: "2" }],
  ["m{;empty}", "m;empty", { empty: "" }],
  // The same variable twice.
  ["{x}/{x}", "a/a", { x: "a" }],
  ["{x}/{x}", "a/b", undefined],
  ["/{v:1}/{v}", "/v/value", { v: "value" }],
  ["/{v:1}/{v}", "/w/value", undefined],
])("%s on %s", (template, uri, expected) => {
  expect(match(template, uri)).toEqual(expected);
});

test.each([
  "https://example.com",
  "https://example.com/",
  "file:///a b.txt",
  "file:///a%20b.txt",
  "HTTP://Example.COM/../x",
  "é://ü",
])("the literal %s is compared without normalization", (uri) => {
  expect(match(uri, uri)).toEqual({});
  expect(match(uri, `${uri}/`)).toBeUndefined();
});

test("a literal with a space also matches its expansion, and nothing else", () => {
  const template = parseTemplate("file:///a b/{x}");
  expect(template.match("file:///a b/1")).toMatchObject({ x: "1" });
  expect(template.match(expandTemplate(template.template, { x: "1" }))).toMatchObject({ x: "1" });
  expect(template.match("file:///a+b/1")).toBeUndefined();
  expect(parseTemplate("a%20b").match("a b")).toBeUndefined();
});

test("variables called __proto__ and constructor are ordinary", () => {
  const found = parseTemplate("{__proto__}/{constructor}{?toString}").match("a/b?toString=c");
  expect(Object.getPrototypeOf(found)).toBeNull();
  expect(Object.entries(found ?? {})).toEqual([
    ["__proto__", "a"],
    ["constructor", "b"],
    ["toString", "c"],
  ]);
  expect(parseTemplate("{?a}").match("?constructor=1")).toBeUndefined();
});

test("a URI over 64 KiB does not match", () => {
  const template = parseTemplate("{+x}");
  expect(template.match("a".repeat(65_536))).toBeDefined();
  expect(template.match("a".repeat(65_537))).toBeUndefined();
});

describe("matching in linear time", () => {
  test.each([
    ["{+x}{+y}", "a"],
    ["{+a}{+b}{+c}{+d}!", "a"],
    ["{+a}/{+b}/{+c}/{+d}!", "/"],
    ["{/a*}{/b*}{/c*}x", "/"],
    ["{a*}{.b*}{.c*}!", "."],
    ["{?a,b}!", "?a=1&"],
    ["{?a,b}!", "?"],
    ["{&a*}!", "&"],
    ["{;a,b}{+x}!", ";a="],
    [`{+x}${"a".repeat(4000)}b{+y}`, "a"],
    ["{+x}%{+y}", "%41"],
  ])("%.40s", async (template, unit) => {
    const parsed = parseTemplate(template);
    // The longest URI that is matched has 65,536 characters.
    await expectLinearTime({ head: "", unit, tail: "" }, (uri) => parsed.match(uri.slice(0, 65_536)));
  });
});

describe("properties", () => {
  const text = fc.string({ unit: "binary", maxLength: 12 }).map((value) => value.replace(/\p{Surrogate}/gu, ""));
  const nonEmpty = text.filter((value) => value !== "");
  // Reserved expansion does not encode triplets, so values with a percent sign are not restored.
  const unescaped = nonEmpty.map((value) => value.replaceAll("%", "")).filter((value) => value !== "");

  test("match(expand(v)) is v", () => {
    const template = parseTemplate("app://{host}/files{/dir,file}{;rev}{?q,lang,tag*}{#part}");
    const values = fc.record(
      {
        host: nonEmpty,
        dir: text,
        rev: text,
        q: text,
        lang: text,
        tag: fc.array(text, { minLength: 1, maxLength: 3 }),
        part: unescaped,
      },
      { requiredKeys: ["host"] },
    );
    fc.assert(
      fc.property(values, (v) => {
        expect({ ...template.match(expandTemplate(template.template, v)) }).toEqual(v);
      }),
    );
  });

  test("reserved expansion after a literal is matched", () => {
    const template = parseTemplate("file:///{+path}");
    fc.assert(
      fc.property(unescaped, (path) => {
        expect(template.match(expandTemplate(template.template, { path }))).toMatchObject({ path });
      }),
    );
  });

  const piece = fc.oneof(
    fc.constantFrom("/", "-", "a", "x1", "//"),
    // A comma of `{x,y}` can match as part of a value, which then expands to %2C. So these expressions have one variable.
    fc.tuple(fc.constantFrom("", "+", "#"), fc.constant(1)),
    fc.tuple(fc.constantFrom(".", "/"), fc.integer({ min: 1, max: 2 })),
  );
  const words = fc.string({ unit: fc.constantFrom("a", "-", "/", ".", "é"), minLength: 1, maxLength: 4 });

  test("every expansion of a template matches it, and the found values expand to the same URI", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.array(words, { minLength: 12, maxLength: 12 }),
        (pieces, pool) => {
          const values: Record<string, string> = {};
          const fresh = (): string => {
            const name = `v${Object.keys(values).length}`;
            values[name] = pool[Object.keys(values).length] ?? "";
            return name;
          };
          const source = pieces.map((part) =>
            typeof part === "string" ? part : `{${part[0]}${Array.from({ length: part[1] }, fresh).join(",")}}`,
          );
          const template = parseTemplate(source.join(""));
          const uri = expandTemplate(template.template, values);
          const found = template.match(uri);
          expect(found, `${template.template} on ${uri}`).toBeDefined();
          // A character can move to a variable that encodes it differently, so the decoded URIs are compared.
          expect(decodeURIComponent(expandTemplate(template.template, found ?? {}))).toBe(decodeURIComponent(uri));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("no template and no URI throws anything but the error of a malformed template", () => {
    const source = fc.string({
      unit: fc.constantFrom(...Array.from("{}+#./;?&,:*=%a1_é "), "{x}", "{+y*}"),
      maxLength: 24,
    });
    const uri = fc.string({ unit: fc.constantFrom(...Array.from("%2Fa/?&=;,.#é\ud800")), maxLength: 40 });
    fc.assert(
      fc.property(source, uri, (source, uri) => {
        try {
          const template = parseTemplate(source);
          template.match(uri);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
          expect(error).toHaveProperty("message", expect.stringMatching(/^Invalid URI template at position \d+: /));
        }
      }),
      { numRuns: 3000 },
    );
  });
});

test("the fast path for a variable at the end finds the same values as the scan", () => {
  const character = fc.constantFrom(
    ...Array.from("ab/?#%,.:;=&+ "),
    "é",
    "😀",
    "%C3%A9",
    "%C3",
    "%FF",
    "%2F",
    "%F0%9F%98%80",
    "%",
    "%4",
  );
  fc.assert(
    fc.property(fc.constantFrom("note://", "a", "é/", "x y/"), fc.array(character, { maxLength: 8 }), (start, rest) => {
      const template = parseTemplate(`${start}{id}`);
      const scan = scanningMatcher(parseParts(`${start}{id}`));
      const uri = start + rest.join("");
      expect(template.match(uri)).toEqual(scan(uri));
      expect(template.match(uri.slice(1))).toEqual(scan(uri.slice(1)));
    }),
  );
});
