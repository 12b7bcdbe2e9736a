/** The definition of an option, for the parser and the help. */
export interface OptionDefinition {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of its value in the help. Undefined for a switch. */
  readonly value?: string;
  readonly description: string;
  /** The help shows options of a topic together. */
  readonly topic?: "sign-in" | "network";
  /** The commands that have the option. Undefined: all commands that use a server. */
  readonly commands?: readonly string[];
  /** Whether the option selects the server. So do all options of a topic. */
  readonly isOfTarget?: boolean;
}

/** The commands that connect to one server. */
const usingOne: readonly string[] = ["list", "call", "prompt", "read", "complete", "watch"];
/** The commands that connect to servers. */
const connecting: readonly string[] = [...usingOne, "chat"];
/** The commands during which a server may ask for input. */
const asked: readonly string[] = ["call", "prompt", "read"];
const signingIn: readonly string[] = [...usingOne, "login"];
const signingInOrChat: readonly string[] = [...signingIn, "chat"];

/** The commands that edit the configurations of hosts. */
const editing: readonly string[] = ["add", "remove"];
/** The commands that use one target. */
const using: readonly string[] = [...signingIn, "logout", "whoami"];
/** The commands that store credentials. */
const storing: readonly string[] = [...using, "chat"];
/** The commands that read configurations. */
const reading: readonly string[] = [...storing, "servers", "add"];
/** The commands that connect, ask or write. */
const acting: readonly string[] = [...storing, ...editing];
/** The commands that have a time limit. */
const limited: readonly string[] = [...storing, "add"];
const all: readonly string[] = [...storing, "servers", ...editing];
/** The options of these commands are described with the common ones. */
const shared: readonly (readonly string[] | undefined)[] = [undefined, connecting, storing, reading, acting, limited];

/** Whether a command edits configurations. */
export function isEditing(command: string | undefined): boolean {
  return command !== undefined && editing.includes(command);
}

/** Returns the notice about `--yes`, which will be removed, with the options that replace it in a command. */
export function yesNotice(command: string): string {
  const uses = [
    "--trust to start or contact the server of a file",
    ...(command === "call" ? ["--allow PATTERN to call its tools"] : []),
    ...(asked.includes(command) ? ["--send-answers to send complete forms"] : []),
  ];
  const [last = "", ...others] = uses.toReversed();
  const list =
    others.length === 0 ? last : `${others.toReversed().join(", ")}${others.length > 1 ? "," : ""} and ${last}`;
  return `--yes will be removed. Use ${list}.`;
}

/** Returns the commands that have an option. */
export function commandsOf({ commands = all }: OptionDefinition): readonly string[] {
  return commands;
}

/** Whether a command has an option. */
export function hasOption(command: string, definition: OptionDefinition): boolean {
  return commandsOf(definition).includes(command);
}

/** Whether an option belongs to a few commands, so that their help describes it. */
export function isSpecific({ commands, topic }: OptionDefinition): boolean {
  return topic === undefined && !shared.includes(commands);
}

/** Whether an option selects the server, the connection or the sign-in, so that a hint with another command repeats it. */
export function isOfTarget({ topic, isOfTarget: selectsServer = false }: OptionDefinition): boolean {
  return topic !== undefined || selectsServer;
}

export const optionDefinitions: readonly OptionDefinition[] = [
  { name: "json", description: 'print exactly one JSON document to stdout; errors as {"error": {...}}' },
  {
    name: "output",
    short: "o",
    value: "FILE",
    commands: asked,
    description: "write images, audio and binary data to FILE",
  },
  {
    name: "instructions",
    commands: ["list"],
    description: "show all instructions of the server, not only their start",
  },
  {
    name: "config",
    isOfTarget: true,
    value: "FILE",
    commands: reading,
    description: "read the servers of this file instead of those of this folder and of the hosts",
  },
  {
    name: "timeout",
    value: "TIME",
    commands: limited,
    description: "time limit of the whole command: 30 (seconds), 500ms, 2m; your answers do not count",
  },
  {
    name: "max-reply",
    value: "SIZE",
    commands: connecting,
    description: "maximum size of a reply: 500KiB, 128MiB (16MiB; 24MiB for read)",
  },
  {
    name: "header",
    short: "H",
    value: '"NAME: VALUE"',
    commands: connecting,
    description: "send this HTTP header; repeatable",
  },
  {
    name: "env",
    short: "e",
    value: "NAME[=VALUE]",
    commands: connecting,
    description: "pass this variable to a server that is started: its value here, or VALUE; repeatable",
  },
  {
    name: "env-all",
    isOfTarget: true,
    commands: connecting,
    description: "pass all variables of this shell to a server that is started",
  },
  {
    name: "revision",
    isOfTarget: true,
    value: "VERSION",
    commands: connecting,
    description: "use this revision of the protocol only",
  },
  {
    name: "root",
    value: "DIR",
    commands: connecting,
    description: "declare this folder as a root that the server may use; repeatable",
  },
  {
    name: "answer",
    value: "NAME=VALUE",
    commands: asked,
    description: "answer the server's question for NAME; repeatable",
  },
  { name: "sample", value: "TEXT", commands: asked, description: "answer with TEXT when the server asks for a model" },
  {
    name: "allow",
    value: "PATTERN",
    commands: ["call"],
    description: "call these tools without asking, even destructive ones; * stands for any characters; repeatable",
  },
  { name: "send-answers", commands: asked, description: "send a form without asking if its answers are complete" },
  {
    name: "trust",
    isOfTarget: true,
    commands: limited,
    description: "start or contact the servers of configuration files without asking",
  },
  {
    name: "yes",
    short: "y",
    commands: signingIn,
    description: "the same as all options that answer questions in advance; it will be removed",
  },
  {
    name: "no-input",
    commands: acting,
    description: "never ask: refuse actions that need consent, and decline questions without an --answer",
  },
  {
    name: "log-level",
    value: "LEVEL",
    commands: connecting,
    description: "minimum level of the server's log messages that are shown (warning)",
  },
  {
    name: "verbose",
    short: "v",
    commands: acting,
    description: "show the connection, all log messages, and the stderr of a started server",
  },
  { name: "help", short: "h", description: "show this help" },
  ...chatOptions(),
  ...editOptions(),
  ...networkOptions(),
  ...signInOptions(),
];

/** The options of `chat`. Some have another meaning in other commands. */
function chatOptions(): OptionDefinition[] {
  const commands = ["chat"];
  return [
    {
      name: "model",
      short: "m",
      value: "PROVIDER/NAME",
      commands,
      description: "the model: ollama/NAME, lmstudio/NAME, vllm/NAME, openai/NAME, or NAME at --base-url",
    },
    { name: "base-url", value: "URL", commands, description: "an endpoint in the format of OpenAI's chat completions" },
    {
      name: "api-key-env",
      value: "NAME",
      commands,
      description: "the environment variable with the key of the endpoint of --base-url",
    },
    {
      name: "provider",
      value: "PACKAGE#EXPORT",
      commands,
      description: "an installed provider package of the AI SDK, such as @ai-sdk/anthropic#anthropic",
    },
    { name: "system", value: "TEXT", commands, description: "instructions for the model, before those of the servers" },
    {
      name: "prompt",
      short: "p",
      value: "TEXT",
      commands,
      description:
        "send this message, print the answer and end; nothing is asked; - reads it from stdin, @FILE from a file",
    },
    { name: "lines", commands, description: "without --prompt: read each line of a pipe as a message or a command" },
    {
      name: "allow",
      value: "PATTERN",
      commands,
      description: "call these tools without asking: NAME or SERVER:NAME, * stands for any characters; repeatable",
    },
    {
      name: "resume",
      value: "ID",
      commands,
      description: "continue a stored conversation, or the last one: --resume last",
    },
    { name: "no-history", commands, description: "do not store the conversation" },
    { name: "yes", short: "y", commands, description: "the same as --trust; it will be removed" },
    {
      topic: "sign-in",
      name: "no-browser",
      commands,
      description: "show the address of a sign-in, and ask for the address at which the browser ends",
    },
  ];
}

/** The options of `add` and `remove`. Some have another meaning in other commands. */
function editOptions(): OptionDefinition[] {
  const add = ["add"];
  const hosts =
    "claude-code, claude-desktop, vscode, cursor, windsurf, zed, codex, gemini-cli, goose, opencode or mcparley";
  return [
    { name: "to", value: "HOST", commands: add, description: `${hosts}; repeatable` },
    { name: "from", value: "HOST", commands: ["remove"], description: `${hosts}; repeatable` },
    {
      name: "scope",
      value: "SCOPE",
      commands: editing,
      description: "user (all folders), project (this folder, for everyone) or local (this folder, for you)",
    },
    { name: "name", value: "NAME", commands: add, description: "the name of the entry (that of the server)" },
    {
      name: "env",
      short: "e",
      value: "NAME[=VALUE]",
      commands: add,
      description: "write a reference to this variable, or VALUE if it is no secret; repeatable",
    },
    {
      name: "header",
      short: "H",
      value: '"NAME: VALUE"',
      commands: add,
      description: "write this HTTP header; a secret as '${env:NAME}'; repeatable",
    },
    { name: "no-pin", commands: add, description: "do not replace a package of npx or uvx by its exact version" },
    { name: "no-check", commands: add, description: "do not connect to the server, and do not run the host's check" },
    { name: "dry-run", commands: editing, description: "show the change, and write nothing" },
    { name: "yes", short: "y", commands: editing, description: "write the change without asking" },
  ];
}

function networkOptions(): OptionDefinition[] {
  const topic = "network";
  const commands = [...signingInOrChat, "logout", "add"];
  return [
    {
      topic,
      commands,
      name: "proxy",
      value: "URL",
      description:
        "connect through this http or https proxy instead of that of the environment (HTTPS_PROXY, NO_PROXY)",
    },
    {
      topic,
      commands,
      name: "cacert",
      value: "FILE",
      description: "also trust the certificate authorities in this PEM file; repeatable",
    },
    { topic, commands, name: "cert", value: "FILE", description: "send the client certificate in this PEM file" },
    { topic, commands, name: "key", value: "FILE", description: "the private key of --cert, as a PEM file" },
    {
      topic,
      commands,
      name: "key-passphrase-env",
      value: "NAME",
      description: "the environment variable that holds the passphrase of --key",
    },
  ];
}

/** The options for the client that signs in. */
function clientIdentityOptions(): OptionDefinition[] {
  const topic = "sign-in";
  return [
    {
      topic,
      name: "new-client",
      commands: ["login"],
      description: "register another client",
    },
    { topic, name: "client-id", value: "ID", commands: signingIn, description: "sign in as this registered client" },
    {
      topic,
      name: "client-secret-env",
      value: "NAME",
      commands: signingIn,
      description: "the environment variable that holds the secret of this client",
    },
    {
      topic,
      name: "redirect-uri",
      value: "URL",
      commands: signingIn,
      description:
        "the redirect URI of this client: http://127.0.0.1, [::1] or localhost, with any path, with or without a port",
    },
  ];
}

function signInOptions(): OptionDefinition[] {
  const topic = "sign-in";
  return [
    {
      topic,
      name: "no-browser",
      commands: signingIn,
      description: "show the address of the sign-in, and ask for the address at which the browser ends",
    },
    {
      topic,
      name: "scope",
      value: '"SCOPE ..."',
      commands: signingIn,
      description: "request these scopes instead of those that the server names",
    },
    {
      topic,
      name: "no-offline",
      commands: signingInOrChat,
      description: "request no offline_access",
    },
    ...clientIdentityOptions(),
    {
      topic,
      name: "issuer",
      value: "URL",
      commands: signingIn,
      description: "the authorization server, if the MCP server names several",
    },
    {
      topic,
      name: "dpop",
      commands: signingInOrChat,
      description: "bind tokens to a key of this machine (DPoP) until logout",
    },
    {
      topic,
      name: "resource",
      value: "URL",
      commands: signingIn,
      description: "accept this resource identifier, if it is shorter than the server's URL",
    },
    {
      topic,
      name: "keychain",
      commands: storing,
      description: "store the key of the credentials in the system's keychain from now on",
    },
  ];
}
