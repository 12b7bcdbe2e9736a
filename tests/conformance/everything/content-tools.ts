import { type Tool, ToolError, audio, embed, image, text, tool } from "mcparley/server";
import { blankWav, onePixelPng } from "./media.ts";

/** Long enough that messages before a result are sent separately, short enough for the suite's limits. */
const pause = (ms = 50): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Longer than the server keeps a connection open, so that clients must reconnect for the answer. */
const longerThanAStream = 1_500;

const empty = { type: "object" } as const;

/** A schema with the keywords of JSON Schema 2020-12 that must reach a client as they are. */
const dialectSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Tools that answer by themselves, each with another kind of content or message. */
export const contentTools: Record<string, Tool> = {
  // The first tool of the list: the suite calls the first tool without arguments.
  test_x_mcp_header: tool({
    description: "Says for which region it was called; the region is mirrored in a header.",
    input: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
    call: ({ region }) => `Region: ${typeof region === "string" ? region : "none"}`,
  }),
  test_simple_text: tool({
    description: "Gives a text.",
    input: empty,
    call: () => "A text and nothing else.",
  }),
  test_image_content: tool({ description: "Gives an image.", call: () => image(onePixelPng, "image/png") }),
  test_audio_content: tool({ description: "Gives a sound.", call: () => audio(blankWav, "audio/wav") }),
  test_embedded_resource: tool({
    description: "Gives a resource inside its result.",
    call: () => embed("test://embedded-resource", "The text of an embedded resource.", { mimeType: "text/plain" }),
  }),
  test_multiple_content_types: tool({
    description: "Gives a text, an image and a resource.",
    call: () => [
      text("Three kinds of content:"),
      image(onePixelPng, "image/png"),
      embed("test://mixed-content-resource", JSON.stringify({ test: "data", value: 123 }), {
        mimeType: "application/json",
      }),
    ],
  }),
  test_tool_with_logging: tool({
    description: "Logs three messages while it runs.",
    call: async (_, ctx) => {
      for (const step of ["started", "is processing data", "is done"]) {
        ctx.log.info(`The tool ${step}.`);
        await pause();
      }
      return "Logged three messages.";
    },
  }),
  test_logging_tool: tool({
    description: "Logs one message, for clients that asked for messages.",
    call: (_, ctx) => {
      ctx.log.info("The tool runs.");
      return "Logged one message.";
    },
  }),
  test_tool_with_progress: tool({
    description: "Reports progress three times.",
    call: async (_, ctx) => {
      for (const percent of [0, 50, 100]) {
        ctx.progress(percent, 100, `${percent} of 100 done`);
        await pause();
      }
      return "Done.";
    },
  }),
  test_reconnection: tool({
    description: "Takes longer than the server holds a connection.",
    call: async () => {
      await pause(longerThanAStream);
      return "You came back.";
    },
  }),
  test_error_handling: tool({
    description: "Always fails.",
    call: () => {
      throw new ToolError("This tool fails on purpose.");
    },
  }),
  json_schema_2020_12_tool: tool({
    description: "Takes what a schema of JSON Schema 2020-12 describes.",
    input: dialectSchema,
    call: (input) => JSON.stringify(input),
  }),
};
