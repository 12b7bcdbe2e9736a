import path from "node:path";
import { expect, test } from "vitest";
import { publicMembers } from "../../scripts/house/public-members.mjs";
import { publicNames } from "../../scripts/house/public-names.mjs";
import { parseFolder, parseSource } from "../../scripts/house/syntax.mjs";
import { root, sourceFiles } from "./source-files.ts";

const isEntry = (name: string): boolean => !name.includes("/");

test("every name that the library exports has a docstring", () => {
  const names = publicNames(sourceFiles(), isEntry);
  expect(names.length).toBeGreaterThan(300);
  expect(names.filter(({ isDocumented }) => !isDocumented).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

test("every member of an exported interface or class has a docstring", () => {
  const members = publicMembers(sourceFiles(), isEntry);
  expect(members.length).toBeGreaterThan(800);
  expect(members.filter(({ isDocumented }) => !isDocumented).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

test("members of interfaces, classes and object types are listed without private, literal and inherited ones", () => {
  const text = `export interface A { /** Of a. */ a: string; b: { inner: string }; c(given: { in: string }): void; kind: "a" }
export class B extends C { #a = 1; private b = 1; override c = 1; constructor() {} d() { return {} as { e: string }; } }
export type D = { /** Of a. */ a: string } | { b: string };
interface Hidden { a: string }`;
  const members = publicMembers([parseSource("index.ts", text)], isEntry);
  expect(members.map(({ name, isDocumented }) => [name, isDocumented])).toEqual([
    ["A.a", true],
    ["A.b", false],
    ["A.c", false],
    ["B.d", false],
    ["D.a", true],
    ["D.b", false],
  ]);
});

test("every name that the store for Redis exports has a docstring", () => {
  const names = publicNames(parseFolder(path.join(root, "packages/redis/src")), (name) => name === "index.ts");
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter(({ isDocumented }) => !isDocumented)).toEqual([]);
});

test("every name and member that the package for configurations exports has a docstring", () => {
  const files = parseFolder(path.join(root, "packages/config/src"));
  const names = publicNames(files, (name) => name === "index.ts");
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter(({ isDocumented }) => !isDocumented)).toEqual([]);
});

test("every name and member that the package for hosts exports has a docstring", () => {
  const files = parseFolder(path.join(root, "packages/host/src"));
  const isEntry = (name: string): boolean => name === "index.ts";
  const names = publicNames(files, isEntry);
  expect(names.length).toBeGreaterThan(60);
  expect([...names, ...publicMembers(files, isEntry)].filter(({ isDocumented }) => !isDocumented)).toEqual([]);
});

test("a docstring belongs to a declaration if only comments separate them", () => {
  const text =
    "/** Of the file. */\nimport x from 'x';\n// Comment.\nexport const a = x;\n/** Of b. */\n// Comment.\nexport type b = 1;";
  const names = publicNames([parseSource("index.ts", text)], isEntry);
  expect(names.map(({ name, isDocumented }) => [name, isDocumented])).toEqual([
    ["a", false],
    ["b", true],
  ]);
});
