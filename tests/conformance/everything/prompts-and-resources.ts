import { type Prompt, type Resource, embed, image, prompt, resource, text, user } from "mcparley/server";
import { onePixelPng } from "./media.ts";

export const prompts: Record<string, Prompt> = {
  test_simple_prompt: prompt({ description: "Has no arguments.", get: () => "A prompt without arguments." }),
  test_prompt_with_arguments: prompt({
    description: "Has two arguments.",
    arguments: {
      arg1: { description: "The first", required: true, complete: ["test", "testing", "tried"] },
      arg2: { description: "The second", required: true },
    },
    get: ({ arg1, arg2 }) => `A prompt with arg1='${arg1}' and arg2='${arg2}'.`,
  }),
  test_prompt_with_embedded_resource: prompt({
    description: "Brings a resource along.",
    arguments: { resourceUri: { description: "The resource", required: true } },
    get: ({ resourceUri }) => [
      user(embed(resourceUri, "The text of the resource.", { mimeType: "text/plain" })),
      user("Read the resource above."),
    ],
  }),
  test_prompt_with_image: prompt({
    description: "Brings an image along.",
    get: () => [user(image(onePixelPng, "image/png")), user(text("Look at the image above."))],
  }),
  test_input_required_result_prompt: prompt({
    description: "Asks for its context.",
    get: async (_, ctx) => {
      const schema = { type: "object", properties: { context: { type: "string" } }, required: ["context"] };
      const { context } = await ctx.elicit({ key: "user_context", message: "Which context is it for?", schema });
      return `Work in this context: ${String(context)}`;
    },
  }),
};

export const resources: Record<string, Resource> = {
  static_text: resource("test://static-text", {
    description: "A text that never changes.",
    mimeType: "text/plain",
    read: () => "The text of a static resource.",
  }),
  static_binary: resource("test://static-binary", {
    description: "Bytes that never change.",
    mimeType: "image/png",
    read: () => onePixelPng,
  }),
  watched: resource("test://watched-resource", {
    description: "A resource to subscribe to.",
    mimeType: "text/plain",
    read: () => "The text of a watched resource.",
  }),
  template: resource("test://template/{id}/data", {
    description: "One of a family.",
    mimeType: "application/json",
    read: ({ id }) => JSON.stringify({ id, data: `Data of ${id}` }),
  }),
};
