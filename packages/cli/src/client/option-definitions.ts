/** An option as it is read, and as the help shows it. */
export interface OptionDefinition {
  readonly name: string;
  readonly short?: string;
  /** What stands for its value in the help; undefined for a switch. */
  readonly value?: string;
  readonly description: string;
  /** The help shows options of a topic together. */
  readonly topic?: "sign-in";
}

export const optionDefinitions: readonly OptionDefinition[] = [
  { name: "json", description: 'print exactly one JSON document to stdout; errors as {"error": {...}}' },
  { name: "output", short: "o", value: "FILE", description: "write images, audio and binary data to FILE" },
  { name: "timeout", value: "TIME", description: "give up after this long: 30 (seconds), 500ms, 2m" },
  { name: "header", short: "H", value: '"NAME: VALUE"', description: "send this HTTP header; may come again" },
  {
    name: "env",
    short: "e",
    value: "NAME=VALUE",
    description: "set this for a server that is started; may come again",
  },
  { name: "revision", value: "VERSION", description: "speak this revision of the protocol only" },
  { name: "answer", value: "NAME=VALUE", description: "answer the server's question for NAME; may come again" },
  { name: "sample", value: "TEXT", description: "answer with TEXT when the server asks for a model" },
  { name: "yes", short: "y", description: "call destructive tools, and send complete answers, without asking" },
  { name: "no-input", description: "never ask; the server's questions without an --answer are declined" },
  { name: "log-level", value: "LEVEL", description: "show the server's log messages from this level on (warning)" },
  { name: "verbose", short: "v", description: "say what is connected to, and show all log messages" },
  { name: "help", short: "h", description: "show this" },
  ...signInOptions(),
];

function signInOptions(): OptionDefinition[] {
  const topic = "sign-in";
  return [
    { topic, name: "no-browser", description: "show where to sign in, and ask for the address that a browser ends at" },
    {
      topic,
      name: "scope",
      value: '"SCOPE ..."',
      description: "ask for these scopes, and not for those the server names",
    },
    { topic, name: "client-id", value: "ID", description: "sign in as this client, which is registered already" },
    {
      topic,
      name: "client-secret-env",
      value: "NAME",
      description: "the environment variable NAME holds the secret of this client",
    },
    {
      topic,
      name: "issuer",
      value: "URL",
      description: "the authorization server, where the MCP server names several",
    },
    {
      topic,
      name: "keychain",
      description: "from now on keep what signing in gives with a key of the system's keychain",
    },
  ];
}
