import { listen } from "mcparley/node";
import { createServer, resource, tool } from "mcparley/server";
import { z } from "zod";

/*
 * A server whose schemas and templates are expensive to evaluate for hostile input. It writes its URL to stdout. It runs
 * in a process of its own, which an attack could stop.
 */

const numbers = Array.from({ length: 30 }, (_, index) => index);

/** 30 objects, as JSON Schema. */
const alternatives = numbers.map((n) => ({
  type: "object",
  properties: { kind: { const: `kind ${n}` }, [`text${n}`]: { type: "string" } },
  required: ["kind", `text${n}`],
}));

/** The same 30 objects, as zod schemas. */
const objects = numbers.map((n) => z.object({ kind: z.literal(`kind ${n}`), [`text${n}`]: z.string() }));

/** 29 objects with 60 required properties each, and one with one. A library reports each missing property of each object. */
const largeObjects = [
  ...numbers
    .slice(1)
    .map((n) => z.object(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`text${n}_${at}`, z.string()])))),
  z.object({ last: z.literal(true) }),
];

const accept = (): string => "accepted";
const list = (items: object): { type: "object"; properties: { items: object } } => ({
  type: "object",
  properties: { items: { type: "array", ...items } },
});

const server = createServer({
  name: "attacked",
  version: "1.0.0",
  tools: {
    alternatives: tool({ input: list({ items: { oneOf: alternatives } }), call: accept }),
    union: tool({ input: z.object({ items: z.array(z.union(objects)) }), call: accept }),
    largeUnion: tool({ input: z.object({ items: z.array(z.union(largeObjects)) }), call: accept }),
    unique: tool({ input: list({ uniqueItems: true }), call: accept }),
    hello: tool({ call: () => "hello" }),
    /** Milliseconds of CPU time that this process has used. */
    cpu: tool({
      call: () => {
        const { user, system } = process.cpuUsage();
        return String((user + system) / 1000);
      },
    }),
  },
  resources: {
    exploded: resource("list://x{/ids*}/end", { read: () => "exploded" }),
    query: resource("query://x{?tags*}end", { read: () => "query" }),
    reserved: resource("reserved://x{+a}/{+b}/{+c}/{+d}!", { read: () => "reserved" }),
    labels: resource("labels://x{a*}{.b*}{.c*}!", { read: () => "labels" }),
  },
});

const { url } = await listen(server, { port: 0 });
process.stdout.write(`${url}\n`);
