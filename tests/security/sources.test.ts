import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseFolder, walk } from "../../scripts/house/syntax.mjs";
import { textsIn } from "../docs/hints.ts";

const sources = ["mcparley", "redis"].flatMap((name) =>
  parseFolder(fileURLToPath(new URL(`../../packages/${name}/src`, import.meta.url))),
);

/** Hosts that stand for others in messages, this machine, and the identifiers of JSON Schema dialects, which are never fetched. */
const placeholders = /^(?:(?:.+\.)?example(?:\.(?:com|org))?|127\.0\.0\.1|(?:app\.)?localhost|json-schema\.org|)$/;

describe("the sources of the library", () => {
  test("name no host to connect to", () => {
    const hosts = sources.flatMap(({ name, program }) =>
      textsIn(program).flatMap((text) =>
        [...text.matchAll(/\b(?:https?|wss?):\/\/(?:[^\s/@]*@)?([\w.-]*)/g)].map(([, host]) => ({ name, host })),
      ),
    );
    expect(hosts.length).toBeGreaterThan(5);
    expect(hosts.filter(({ host = "" }) => !placeholders.test(host))).toEqual([]);
  });

  test("generate no code", () => {
    const generating: string[] = [];
    for (const { name, program } of sources) {
      walk(program, ({ type, callee }: Record<string, any>) => {
        const isCall = type === "CallExpression" || type === "NewExpression";
        if (
          isCall &&
          /^(?:eval|Function|runIn\w*Context|compileFunction)$/.test(callee.property?.name ?? callee.name)
        ) {
          generating.push(name);
        }
      });
    }
    expect(generating).toEqual([]);
  });

  test("open a URL only in a sign-in", () => {
    const users = sources.filter(({ program }) => {
      let isFound = false;
      walk(program, ({ type, name }: Record<string, any>) => {
        isFound ||= type === "Identifier" && name === "openUrl";
      });
      return isFound;
    });
    expect(users.map(({ name }) => name).toSorted()).toEqual(["node.ts", "node/sign-in/loopback-sign-in.ts"]);
  });
});
