import { expandTemplate as expand } from "mcparley-tests/support/expand-uri-template.ts";
import { describe, expect, test } from "vitest";
import { parseTemplate } from "./uri-template.ts";

/** The variables and the tables of RFC 6570 section 3.2. */
const values = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null,
};

const tables: Record<string, readonly (readonly [template: string, uri: string])[]> = {
  "3.2.1 variable expansion": [
    ["{count}", "one,two,three"],
    ["{count*}", "one,two,three"],
    ["{/count}", "/one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count}", ";count=one,two,three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{?count}", "?count=one,two,three"],
    ["{?count*}", "?count=one&count=two&count=three"],
    ["{&count*}", "&count=one&count=two&count=three"],
  ],
  "3.2.2 simple string expansion": [
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{x,y}", "1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  ],
  "3.2.3 reserved expansion": [
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
    ["{+keys*}", "semi=;,dot=.,comma=,"],
  ],
  "3.2.4 fragment expansion": [
    ["{#var}", "#value"],
    ["{#hello}", "#Hello%20World!"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["{#path:6}/here", "#/foo/b/here"],
    ["{#list}", "#red,green,blue"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"],
  ],
  "3.2.5 label expansion": [
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.var}", "X.value"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.var:3}", "X.val"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"],
  ],
  "3.2.6 path segment expansion": [
    ["{/who}", "/fred"],
    ["{/who,who}", "/fred/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var}", "/value"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/var:1,var}", "/v/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  ],
  "3.2.7 path-style parameter expansion": [
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,bar,who}", ";v=6;who=fred"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    ["{;hello:5}", ";hello=Hello"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  ],
  "3.2.8 form-style query expansion": [
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ],
  "3.2.9 form-style query continuation": [
    ["{&who}", "&who=fred"],
    ["{&half}", "&half=50%25"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    ["{&x,y,undef}", "&x=1024&y=768"],
    ["{&var:3}", "&var=val"],
    ["{&list}", "&list=red,green,blue"],
    ["{&list*}", "&list=red&list=green&list=blue"],
    ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
  ],
};

describe.each(Object.entries(tables))("RFC 6570 %s", (_, rows) => {
  test.each(rows)("%s expands to %s", (template, uri) => {
    expect(expand(template, values)).toBe(uri);
  });

  // The excluded rows expand an empty value without a prefix character. It leaves no trace in the URI.
  test.each(rows.filter(([template]) => !template.startsWith("O{")))("%s matches its expansion", (template, uri) => {
    const parsed = parseTemplate(template);
    const found = parsed.match(uri);
    expect(found).toBeDefined();
    expect(Object.keys(found ?? {}).every((name) => parsed.variables.includes(name))).toBe(true);
  });
});

describe("expansion beyond the tables", () => {
  test("numbers and booleans are written as text", () => {
    expect(expand("/loc{?long,on}", { long: -122.427, on: true })).toBe("/loc?long=-122.427&on=true");
  });

  test("names may have dots and percent-encoded triplets", () => {
    expect(expand("{?last.name,Stra%C3%9Fe}", { "last.name": "Doe", "Stra%C3%9Fe": "Grüner Weg" })).toBe(
      "?last.name=Doe&Stra%C3%9Fe=Gr%C3%BCner%20Weg",
    );
  });

  test("reserved expansion keeps triplets and encodes other percent signs", () => {
    expect(expand("{+a}{#b}", { a: "x%2F[y]", b: "%foo" })).toBe("x%2F[y]#%25foo");
  });

  test("a prefix counts characters, not UTF-16 units", () => {
    expect(expand("{x:2}", { x: "😀é!" })).toBe("%F0%9F%98%80%C3%A9");
  });

  test("half a surrogate pair becomes the replacement character", () => {
    expect(expand("{x}", { x: "a\ud800" })).toBe("a%EF%BF%BD");
  });

  test("characters of literals that a URI cannot contain are encoded, and triplets are kept", () => {
    expect(expand("a b%20é/{x}", { x: "1" })).toBe("a%20b%20%C3%A9/1");
  });

  test("missing entries of lists and objects are omitted", () => {
    expect(expand("{x}{?y*}", { x: ["a", null, "b"], y: { k: undefined, l: "1" } })).toBe("a,b?l=1");
  });

  test("a variable called constructor is undefined unless it has a value", () => {
    expect(expand("{constructor}{?__proto__,toString}", {})).toBe("");
  });

  test("a prefix of a list or an object is an error that names the variable", () => {
    expect(() => expand("a{keys:1}", values)).toThrow(/"keys:1" can only take a string/);
    expect(() => expand("{+list:1}", values)).toThrow(/"list:1" can only take a string/);
  });
});

describe("malformed templates", () => {
  test.each([
    ["{/id*", 0, "not closed"],
    ["/id*}", 4, "has no opening"],
    ["a{x}}", 4, "has no opening"],
    ["{/?id}", 2, "not a variable"],
    ["{var:prefix}", 1, "not a variable"],
    ["{hello:2*}", 1, "not a variable"],
    ["{hello:0}", 1, "not a variable"],
    ["{hello:10000}", 1, "not a variable"],
    ["{??hello}", 2, "not a variable"],
    ["{!hello}", 1, "reserved"],
    ["{=path}", 1, "reserved"],
    ["{|var*}", 1, "reserved"],
    ["{$var}", 1, "not a variable"],
    ["{*keys?}", 1, "not a variable"],
    ["{}", 1, "missing"],
    ["{+}", 2, "missing"],
    ["{a,}", 3, "missing"],
    ["{a,,b}", 3, "missing"],
    ["/resolution{?x, y}", 15, "not a variable"],
    ["{-join|&|var,list}", 1, "not a variable"],
    ["/people/{~thing}", 9, "not a variable"],
    ["{a{b}}", 1, "not a variable"],
    ["{a..b}", 1, "not a variable"],
    ["{%zz}", 1, "not a variable"],
  ])("%s is refused at %i: %s", (template, position, reason) => {
    const error = catchError(() => parseTemplate(template));
    expect(error).toBeInstanceOf(SyntaxError);
    const start = `Invalid URI template at position ${position}: `;
    expect(error).toMatchObject({ message: expect.stringContaining(start) as string });
    expect(error).toMatchObject({ message: expect.stringContaining(reason) as string });
  });

  test("the limits: 8 KiB, 64 expressions, 128 variables", () => {
    expect(parseTemplate("a".repeat(8192)).match("a".repeat(8192))).toEqual({});
    expect(() => parseTemplate("a".repeat(8193))).toThrow(/at most 8192 characters/);
    expect(parseTemplate("{a}".repeat(64)).variables).toEqual(["a"]);
    expect(() => parseTemplate("{a}".repeat(65))).toThrow(/at most 64 expressions/);
    const names = Array.from({ length: 129 }, (_, index) => `v${index}`);
    expect(parseTemplate(`{?${names.slice(1).join(",")}}`).variables).toHaveLength(128);
    expect(() => parseTemplate(`{?${names.join(",")}}`)).toThrow(/at most 128 variables/);
  });
});

test("variables are listed once, in order of appearance", () => {
  const { template, variables } = parseTemplate("{a}/{+b,a}{?c*,d:3}");
  expect(template).toBe("{a}/{+b,a}{?c*,d:3}");
  expect(variables).toEqual(["a", "b", "c", "d"]);
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
