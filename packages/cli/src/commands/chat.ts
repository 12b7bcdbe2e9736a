import { keychain } from "../targets/sign-in/options.ts";
import { type OptionValues, type Options, allTexts, isTyped, lastText } from "../terminal/options.ts";
import type { CommandDeclaration } from "./connection/command.ts";
import { connectOptions } from "./connection/options.ts";

const options = {
  ...connectOptions,
  model: {
    name: "model",
    short: "m",
    value: "PROVIDER/NAME",
    description: "the model: ollama/NAME, lmstudio/NAME, vllm/NAME, openai/NAME, or NAME at --base-url",
    read: lastText,
  },
  baseUrl: {
    name: "base-url",
    value: "URL",
    description: "an endpoint in the format of OpenAI's chat completions",
    read: lastText,
  },
  apiKeyEnv: {
    name: "api-key-env",
    value: "NAME",
    description: "the environment variable with the key of the endpoint of --base-url",
    read: lastText,
  },
  provider: {
    name: "provider",
    value: "PACKAGE#EXPORT",
    description: "an installed provider package of the AI SDK, such as @ai-sdk/anthropic#anthropic",
    read: lastText,
  },
  system: {
    name: "system",
    value: "TEXT",
    description: "instructions for the model, before those of the servers",
    read: lastText,
  },
  prompt: {
    name: "prompt",
    short: "p",
    value: "TEXT",
    description:
      "send this message, print the answer and end; nothing is asked; - reads it from stdin, @FILE from a file",
    read: lastText,
  },
  lines: {
    name: "lines",
    description: "without --prompt: read each line of a pipe as a message or a command",
    read: isTyped,
  },
  allow: {
    name: "allow",
    value: "PATTERN",
    description: "call these tools without asking: NAME or SERVER:NAME, * stands for any characters; repeatable",
    read: allTexts,
  },
  resume: {
    name: "resume",
    value: "ID",
    description: "continue a stored conversation, or the last one: --resume last",
    read: lastText,
  },
  noHistory: { name: "no-history", description: "do not store the conversation", read: isTyped },
  yes: { name: "yes", short: "y", description: "the same as --trust; it will be removed", read: isTyped },
  noBrowser: {
    name: "no-browser",
    topic: "signing-in",
    description: "show the address of a sign-in, and ask for the address at which the browser ends",
    read: isTyped,
  },
  keychain,
} as const satisfies Options;

export type ChatOptions = OptionValues<typeof options>;

/** The declaration of `mcparley chat`. `runChat` runs it. */
export const chatCommand: CommandDeclaration<typeof options> = {
  kind: "other",
  usage: "[TARGET ...]",
  summary: "talk to a model that uses the tools, prompts and resources of servers",
  options,
  details: [
    "Without a TARGET, the servers of the nearest configuration file of this folder or one above it are used. A command after -- is one " +
      "more server.",
    "Each call of a tool is shown and asked for. / opens the menu of commands and prompts, @ that of the resources. Without --model you " +
      "choose what a model would, and see what it would receive.",
    "--prompt sends one message and prints the answer. Nothing is asked then: calls need --allow or a rule. --json prints one document.",
    "With --prompt, the text of a pipe is a part of the message. @FILE in it adds a file, @SERVER:URI a resource, and -p - or -p @FILE reads " +
      "the whole message. Without --prompt, a pipe is one message; --lines reads each line as one.",
    "The conversation is stored, and --resume continues it. Keys of models are read from variables: OPENAI_API_KEY, or --api-key-env.",
  ],
  examples: [
    "mcparley chat handbook",
    "mcparley chat notes https://example.com/mcp --model ollama/qwen3",
    "mcparley chat -m qwen3 --base-url http://127.0.0.1:8080/v1 -- node server.js",
    'mcparley chat notes -m ollama/qwen3 --allow "find_*" -p "What is due?" --json',
    'git diff | mcparley chat -m ollama/qwen3 -p "Review it by @CONTRIBUTING.md"',
    "mcparley chat --resume last",
  ],
};
