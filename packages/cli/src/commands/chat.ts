import { signInOptions } from "../targets/sign-in/options.ts";
import { type OptionValues, flag, options, text, texts } from "../terminal/options.ts";
import type { CommandDeclaration } from "./connection/command.ts";
import { connectOptions } from "./connection/options.ts";

const { noOffline, dpop, keychain } = signInOptions;

const chatOptions = {
  ...connectOptions,
  ...options({
    model: text(
      "PROVIDER/NAME",
      "the model: ollama/NAME, lmstudio/NAME, vllm/NAME, openai/NAME, or NAME at --base-url",
      "m",
    ),
    baseUrl: text("URL", "an endpoint in the format of OpenAI's chat completions"),
    apiKeyEnv: text("NAME", "the environment variable with the key of the endpoint of --base-url"),
    provider: text(
      "PACKAGE#EXPORT",
      "an installed provider package of the AI SDK, such as @ai-sdk/anthropic#anthropic",
    ),
    system: text("TEXT", "instructions for the model, before those of the servers"),
    prompt: text(
      "TEXT",
      "send this message, print the answer and end; nothing is asked; - reads it from stdin, @FILE from a file",
      "p",
    ),
    lines: flag("without --prompt: read each line of a pipe as a message or a command"),
    allow: texts(
      "PATTERN",
      "call these tools without asking: NAME or SERVER:NAME, * stands for any characters; repeatable",
    ),
    resume: text("ID", "continue a stored conversation, or the last one: --resume last"),
    noHistory: flag("do not store the conversation"),
    yes: flag("the same as --trust; it will be removed", "y"),
  }),
  ...options(
    { noBrowser: flag("show the address of a sign-in, and ask for the address at which the browser ends") },
    "signing-in",
  ),
  noOffline,
  dpop,
  keychain,
} as const;

export type ChatOptions = OptionValues<typeof chatOptions>;

/** The declaration of `mcparley chat`. `runChat` runs it. */
export const chatCommand: CommandDeclaration<typeof chatOptions> = {
  kind: "other",
  usage: "[TARGET ...]",
  summary: "talk to a model that uses the tools, prompts and resources of servers",
  options: chatOptions,
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
