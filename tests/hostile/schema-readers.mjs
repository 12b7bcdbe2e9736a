// @ts-check
import { tolerant } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

/** @param {string} format @param {readonly { head?: string, tail?: string }[]} [around] @returns {Reader} */
function format(format, around) {
  return {
    name: `format ${format}`,
    load: async () => {
      const { compileJsonSchema } = await import("../support/compile-json-schema.ts");
      return compileJsonSchema({ format });
    },
    ...(around && { around }),
  };
}

/** The readers of the formats of JSON Schema, and of URI templates. @type {readonly Reader[]} */
export const schemaReaders = [
  format("date"),
  format("time", [{}, { head: "10:00:00." }, { head: "10:00:00Z" }]),
  format("date-time", [{}, { head: "2026-01-01T10:00:00." }]),
  format("duration", [{}, { head: "P" }, { head: "PT" }]),
  format("email", [
    {},
    { tail: "@example.com" },
    { head: "a@" },
    { head: '"', tail: '"@a.b' },
    { head: "a@[", tail: "]" },
  ]),
  format("hostname"),
  format("ipv4"),
  format("ipv6", [{}, { head: "::" }]),
  format("uri", [{}, { head: "a:" }, { head: "a://" }, { head: "a://b@[" }, { head: "a:?" }, { head: "a:#" }]),
  format("uri-reference", [{}, { head: "//" }, { head: "//[", tail: "]" }]),
  format("uri-template", [{}, { head: "{" }]),
  format("uuid"),
  format("regex", [
    {},
    { head: "[" },
    { head: "(?<" },
    { head: "\\k<" },
    { head: "a{" },
    { head: "\\p{" },
    { tail: "a)*" },
  ]),
  format("json-pointer", [{}, { head: "/" }]),
  format("relative-json-pointer", [{}, { head: "0/" }, { head: "1" }]),
  {
    name: "URI template",
    load: async () => {
      const { parseTemplate } = await import("../../packages/mcparley/src/schema/uri-template.ts");
      return tolerant(parseTemplate);
    },
  },
  {
    name: "URI of a template",
    load: async () => {
      const { parseTemplate } = await import("../../packages/mcparley/src/schema/uri-template.ts");
      const templates = ["a:{x}", "a:{+x}{+y}", "a:{x}/{y}-{+z}", "a:{?x,y}", "a:{/x*}{?y*}", "a:{.x*}{/y*}{;z*}"].map(
        parseTemplate,
      );
      return (text) => templates.map((template) => template.match(text));
    },
    around: [{ head: "a:" }],
  },
];
