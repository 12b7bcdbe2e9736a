import type { ProviderName } from "@mcparley/host";
import { UsageError } from "../../terminal/io.ts";

/** A provider with an endpoint in the format of OpenAI's chat completions. */
export interface BuiltInProvider {
  /** The name for the user. */
  readonly title: string;
  readonly url: string;
  /** The variable with the key, which is required. Undefined if the endpoint needs none. */
  readonly keyEnv?: string;
  /** The command that starts the program of the endpoint. */
  readonly start?: string;
  /** The command that lists the models of the program. */
  readonly list?: string;
  /** Returns the command that installs a model. */
  readonly install?: (model: string) => string;
  /** The rules for the schemas of tools. Default: those that all providers accept. */
  readonly schemas?: ProviderName;
}

/** The providers by the name in `--model`. */
export const builtInProviders: ReadonlyMap<string, BuiltInProvider> = new Map<string, BuiltInProvider>([
  ["openai", { title: "OpenAI", url: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY", schemas: "openai" }],
  ["openrouter", { title: "OpenRouter", url: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY" }],
  ["groq", { title: "Groq", url: "https://api.groq.com/openai/v1", keyEnv: "GROQ_API_KEY" }],
  ["mistral", { title: "Mistral", url: "https://api.mistral.ai/v1", keyEnv: "MISTRAL_API_KEY" }],
  ["deepseek", { title: "DeepSeek", url: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY" }],
  [
    "ollama",
    {
      title: "Ollama",
      url: "http://127.0.0.1:11434/v1",
      start: "ollama serve",
      list: "ollama list",
      install: (model) => `ollama pull ${model}`,
    },
  ],
  ["lmstudio", { title: "LM Studio", url: "http://127.0.0.1:1234/v1", start: "lms server start", list: "lms ls" }],
  ["vllm", { title: "vLLM", url: "http://127.0.0.1:8000/v1", start: "vllm serve MODEL" }],
]);

/** Returns the rules for the schemas of tools of a model of a built-in provider. */
export function schemasOf(name: string, provider: BuiltInProvider, model: string): ProviderName {
  if (name !== "openrouter") return provider.schemas ?? "common";
  // OpenRouter passes the schemas on to the provider that its names begin with.
  const [maker = ""] = model.split("/");
  return maker === "openai" || maker === "anthropic" || maker === "google" ? maker : "common";
}

/** Returns the address of a built-in provider, and the variable that it comes from if it is not the usual one. */
export function addressOf(
  name: string,
  provider: BuiltInProvider,
  env: Readonly<Record<string, string | undefined>>,
): { url: string; variable?: string } {
  const host = name === "ollama" ? env.OLLAMA_HOST?.trim() : undefined;
  return host ? { url: readOllamaHost(host), variable: "OLLAMA_HOST" } : { url: provider.url };
}

/**
 * Returns the address of the endpoint that `OLLAMA_HOST` names, by the rules of Ollama: a host with optional scheme, port
 * and path. The default port is that of the scheme, and 11434 without a scheme.
 */
function readOllamaHost(text: string): string {
  const value = text.replace(/^["'\s]+|["'\s]+$/g, "");
  const [, scheme, address = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(value) ?? [];
  const [, hostAndPort = "", path = ""] = /^([^/]*)(.*)$/s.exec(address) ?? [];
  // An IPv6 address without brackets has no port.
  const authority = /^[^[\]]*:[^[\]]*:/.test(hostAndPort) ? `[${hostAndPort}]` : hostAndPort;
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(authority) ?? [];
  const portOfUrl = port !== "" ? `:${port}` : scheme === undefined ? ":11434" : "";
  const url = `${scheme ?? "http"}://${connectable(host)}${portOfUrl}${path.replace(/\/+$/, "")}/v1`;
  const isRead = authority === "" || host !== "" || port !== "";
  if (isRead && URL.canParse(url)) return url;
  throw new UsageError(
    "The environment variable OLLAMA_HOST is not an address.",
    "Set it to HOST, HOST:PORT or http://HOST:PORT, such as 127.0.0.1:11434.",
  );
}

/** Returns the address to connect to. A server listens on the unspecified addresses, but no client can connect to them everywhere. */
function connectable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1";
  return host === "[::]" ? "[::1]" : host;
}
