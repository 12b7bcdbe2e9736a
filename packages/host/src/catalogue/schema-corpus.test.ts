import path from "node:path";
import { connect } from "mcparley/client";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { adaptSchema } from "./adapt-schema.ts";
import type { ProviderName } from "./providers.ts";
import { violations } from "./testing/schema-checker.ts";

const providers: readonly ProviderName[] = ["common", "openai", "anthropic", "google"];
const root = path.resolve(import.meta.dirname, "../../../..");
const published = path.join(root, "node_modules/@modelcontextprotocol");

type Schemas = readonly (readonly [tool: string, schema: unknown])[];

/** Returns the losses of some tools, as sorted lines without repetitions. */
function lossesOf(schemas: Schemas, provider: ProviderName): string[] {
  const lines = schemas.flatMap(([tool, schema]) => {
    const { schema: adapted, losses } = adaptSchema(schema, provider, { server: "corpus", tool });
    expect(violations(adapted, provider)).toEqual([]);
    return losses.map(({ path, keyword, effect }) => `${tool} ${path} ${keyword} ${effect}`);
  });
  return [...new Set(lines)].toSorted();
}

async function toolsOf(name: string, args: readonly string[]): Promise<Schemas> {
  const file = path.join(published, name, "dist/index.js");
  const client = await connect({ command: process.execPath, args: [file, ...args] });
  const tools = await client.listTools().all();
  await client.close();
  return tools.map((tool) => [tool.name, tool.inputSchema]);
}

describe("the tools of published servers", () => {
  let everything: Schemas = [];
  let filesystem: Schemas = [];
  beforeAll(async () => {
    [everything, filesystem] = await Promise.all([
      toolsOf("server-everything", ["stdio"]),
      toolsOf("server-filesystem", [import.meta.dirname]),
    ]);
  });

  test("lose nothing for OpenAI and Anthropic", () => {
    expect(everything.length).toBeGreaterThan(5);
    expect(filesystem.length).toBeGreaterThan(5);
    for (const provider of ["openai", "anthropic"] as const) {
      expect(lossesOf([...everything, ...filesystem], provider)).toEqual([]);
    }
  });

  test("lose only a format for Google", () => {
    for (const provider of ["google", "common"] as const) {
      expect(lossesOf(everything, provider)).toMatchInlineSnapshot(`
        [
          "gzip-file-as-resource /properties/data format looser",
        ]
      `);
      expect(lossesOf(filesystem, provider)).toMatchInlineSnapshot(`[]`);
    }
  });
});

/** Schemas in the style of pydantic, as FastMCP sends them. */
const pydantic: Schemas = [
  [
    "create_issue",
    {
      $defs: {
        Priority: { enum: ["low", "high"], title: "Priority", type: "string" },
        Label: {
          properties: {
            name: { title: "Name", type: "string" },
            parent: { anyOf: [{ $ref: "#/$defs/Label" }, { type: "null" }], default: null },
          },
          required: ["name"],
          title: "Label",
          type: "object",
        },
      },
      properties: {
        title: { description: "The title.", maxLength: 200, title: "Title", type: "string" },
        priority: { $ref: "#/$defs/Priority", default: "low" },
        labels: { default: [], items: { $ref: "#/$defs/Label" }, title: "Labels", type: "array" },
        assignee: { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Assignee" },
        meta: { additionalProperties: true, title: "Meta", type: "object" },
        extra: { default: null, title: "Extra" },
      },
      required: ["title"],
      title: "create_issueArguments",
      type: "object",
    },
  ],
  [
    "move",
    {
      $defs: {
        Cat: {
          properties: { kind: { const: "cat", type: "string" }, lives: { type: "integer" } },
          required: ["kind"],
          type: "object",
        },
        Dog: { properties: { kind: { const: "dog", type: "string" } }, required: ["kind"], type: "object" },
      },
      properties: {
        pet: {
          discriminator: { mapping: { cat: "#/$defs/Cat", dog: "#/$defs/Dog" }, propertyName: "kind" },
          oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
        },
        to: { maxItems: 2, minItems: 2, prefixItems: [{ type: "number" }, { type: "number" }], type: "array" },
      },
      required: ["pet", "to"],
      type: "object",
    },
  ],
];

test("tools in the style of pydantic lose nothing for OpenAI and Anthropic", () => {
  for (const provider of ["openai", "anthropic"] as const) expect(lossesOf(pydantic, provider)).toEqual([]);
});

test("tools in the style of pydantic lose recursion, tuples and open values for Google", () => {
  for (const provider of ["google", "common"] as const)
    expect(lossesOf(pydantic, provider)).toMatchInlineSnapshot(`
    [
      "create_issue /$defs/Label/properties/parent/anyOf/0 $ref looser",
      "create_issue /properties/extra type narrower",
      "create_issue /properties/meta additionalProperties looser",
      "move /properties/pet oneOf looser",
      "move /properties/to prefixItems looser",
    ]
  `);
  const { properties } = adaptSchema(pydantic[1]?.[1], "google", { server: "corpus", tool: "move" }).schema;
  expect(properties).toMatchInlineSnapshot(`
    {
      "pet": {
        "anyOf": [
          {
            "properties": {
              "kind": {
                "enum": [
                  "cat",
                ],
                "type": "string",
              },
              "lives": {
                "type": "integer",
              },
            },
            "required": [
              "kind",
            ],
            "type": "object",
          },
          {
            "properties": {
              "kind": {
                "enum": [
                  "dog",
                ],
                "type": "string",
              },
            },
            "required": [
              "kind",
            ],
            "type": "object",
          },
        ],
      },
      "to": {
        "items": {
          "type": "number",
        },
        "maxItems": 2,
        "minItems": 2,
        "type": "array",
      },
    }
  `);
});

const zodObject = z.object({
  url: z.url().describe("The page."),
  mode: z.enum(["fast", "slow"]).default("fast"),
  count: z.number().int().positive().optional(),
  target: z.union([z.object({ id: z.number() }), z.literal("all")]),
  tags: z.record(z.string(), z.string()).optional(),
  point: z.tuple([z.number(), z.number()]).nullable(),
});
const zod: Schemas = [
  ["zod-2020", z.toJSONSchema(zodObject, { io: "input" })],
  ["zod-7", z.toJSONSchema(zodObject, { target: "draft-7" })],
];

test("tools in the style of zod lose only what the provider refuses", () => {
  for (const provider of ["openai", "anthropic"] as const) expect(lossesOf(zod, provider)).toEqual([]);
  for (const provider of ["google", "common"] as const)
    expect(lossesOf(zod, provider)).toMatchInlineSnapshot(`
    [
      "zod-2020 /properties/point/anyOf/0 prefixItems looser",
      "zod-2020 /properties/tags additionalProperties looser",
      "zod-2020 /properties/tags propertyNames looser",
      "zod-2020 /properties/url format looser",
      "zod-7  additionalProperties looser",
      "zod-7 /properties/point/anyOf/0 prefixItems looser",
      "zod-7 /properties/tags additionalProperties looser",
      "zod-7 /properties/tags propertyNames looser",
      "zod-7 /properties/target/anyOf/0 additionalProperties looser",
      "zod-7 /properties/url format looser",
    ]
  `);
});

/** Schemas in the style of System.Text.Json of .NET. */
const dotnet: Schemas = [
  [
    "Search",
    {
      type: "object",
      properties: {
        query: { description: "The query.", type: "string" },
        limit: { type: ["integer", "null"], default: null },
        since: { type: ["string", "null"], format: "date-time", default: null },
        kind: { enum: ["All", "Open", null], default: null },
        filter: {
          type: ["object", "null"],
          properties: { tags: { type: ["array", "null"], items: { type: ["string", "null"] } } },
          default: null,
        },
        next: { type: ["object", "null"], properties: { self: { $ref: "#/properties/filter" } }, default: null },
      },
      required: ["query"],
    },
  ],
];

test("tools in the style of .NET lose nothing for any provider", () => {
  for (const provider of providers) expect(lossesOf(dotnet, provider)).toEqual([]);
});
