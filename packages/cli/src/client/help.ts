import { exitCodeMeanings } from "./report-error.ts";
import { type OptionDefinition, hasOption, isSpecific, optionDefinitions } from "./option-definitions.ts";
import type { AnyCommand } from "./session.ts";
import { wrap } from "./terminal-text.ts";

const targetHelp = [
  "TARGET is one of",
  "  a URL            http://127.0.0.1:3333/mcp",
  "  a name           in mcp.json, .mcp.json, .vscode/mcp.json or .cursor/mcp.json",
  "                   of this folder or one above it, and then in the",
  "                   configurations of hosts: mcparley servers",
  "  HOST:NAME        a name in those of one host: claude-code:notes",
  "  -- COMMAND ...   a program to start, after all other words:",
  "                   mcparley call add a=1 b=2 -- node server.js",
].join("\n");

const questionsHelp =
  "A server may ask you for input while it works. You are asked at the terminal, and see the complete answer before it is " +
  "sent. Without a terminal, or with --no-input, questions are declined, unless --answer gives what a form requires; " +
  "its other fields then have their defaults. A URL is opened only if you agree at the terminal.";

const capabilitiesHelp =
  "Some servers offer a tool only to clients that have a model or folders. Such tools are not listed unless --sample or " +
  "--root is given. The server receives the path of each --root; it can ask for nothing else in your file system, but a " +
  "server that you start has all your rights in any case.";

const networkHelp =
  "Servers at a URL are reached through the proxy that the environment names: HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, but not " +
  "for this machine and the hosts in NO_PROXY. --proxy replaces them. Other programs can see the words of a command, so pass " +
  "the password of a proxy in HTTPS_PROXY. Certificates are always verified; --cacert and the file in NODE_EXTRA_CA_CERTS add " +
  "authorities. The client certificate is sent only to the server, and not to a proxy or to the server of a sign-in.";

const signInHelp =
  "A server at a URL may require a sign-in. You are asked at the terminal, and a browser is opened if you agree. Without a " +
  "terminal the command fails with exit code 3. The credentials are stored, encrypted, for the next time.";

const noBreakSpace = "\u00a0";

/** The pages of `mcparley help`, by name. Each is wrapped to a number of columns. */
export const helpTopics: ReadonlyMap<string, (columns: number) => string> = new Map<
  string,
  (columns: number) => string
>([
  ["targets", () => targetHelp],
  [
    "options",
    (columns) =>
      `Options of all commands that use a server\n${optionTable((one) => !isSpecific(one) && !one.topic, columns)}`,
  ],
  [
    "questions",
    (columns) => {
      const own = ["answer", "send-answers", "sample", "root", "allow", "trust", "yes", "no-input"];
      const options = optionTable((one) => own.includes(one.name) && hasOption("call", one), columns);
      return (
        [questionsHelp, capabilitiesHelp].map((text) => wrap(text, columns).join("\n")).join("\n\n") + `\n\n${options}`
      );
    },
  ],
  [
    "network",
    (columns) =>
      `${wrap(networkHelp, columns).join("\n")}\n\n${optionTable(({ topic }) => topic === "network", columns)}`,
  ],
  [
    "signing-in",
    (columns) =>
      `${wrap(signInHelp, columns).join("\n")}\n\n${optionTable((one) => one.topic === "sign-in" && hasOption("login", one), columns)}`,
  ],
  [
    "exit-codes",
    (columns) => {
      const rows = exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const);
      return `Exit codes\n${table(rows, columns)}`;
    },
  ],
]);

/** Returns the output of `mcparley COMMAND --help`, wrapped to `width` columns. */
export function commandHelp(name: string, command: AnyCommand, width: number): string {
  const columns = Math.min(width, 100);
  const isAboutAccount = "run" in command;
  const isEdit = "edit" in command;
  const has = (one: OptionDefinition): boolean => hasOption(name, one);
  const isOwn = (one: OptionDefinition): boolean =>
    has(one) && (isSpecific(one) || (isAboutAccount && one.topic === "sign-in"));
  const own = optionTable(isOwn, columns);
  const common = optionDefinitions.filter((one) => has(one) && !isOwn(one) && !one.topic).map(optionLabel);
  // No line ends between an option and its value.
  const commonLabels = common.map((label) => label.trim().replaceAll(" ", noBreakSpace)).join("   ");
  const hasTopic = (topic: string): boolean => optionDefinitions.some((one) => one.topic === topic && has(one));
  const topics = [...helpTopics.keys()].filter((topic) => {
    if (topic === "network") return hasTopic(topic);
    if (topic === "signing-in") return hasTopic("sign-in");
    if (topic === "options") return !isEdit;
    return topic !== "questions" || !(isEdit || isAboutAccount);
  });
  return [
    wrap(`mcparley ${name} ${command.usage}`, columns).join("\n"),
    sentence(command.summary),
    ...command.details.map((text) => wrap(text, columns).join("\n")),
    `Examples\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    ...(own === "" ? [] : [`Options\n${own}`]),
    `Common options\n${indented(commonLabels, columns).replaceAll(noBreakSpace, " ")}`,
    wrap(`More: mcparley help TOPIC, where TOPIC is ${topics.join(", ")}.`, columns).join("\n"),
  ].join("\n\n");
}

function indented(text: string, columns: number): string {
  return wrap(text, columns - 2)
    .map((line) => `  ${line}`)
    .join("\n");
}

function optionTable(isWanted: (option: OptionDefinition) => boolean, columns: number): string {
  const rows = optionDefinitions
    .filter(isWanted)
    .map((option): [string, string] => [optionLabel(option), option.description]);
  return table(rows, columns);
}

function optionLabel({ name, short, value }: OptionDefinition): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[], columns: number): string {
  const left = Math.max(...rows.map(([label]) => label.length)) + 4;
  return rows
    .flatMap(([label, text]) =>
      wrap(text, columns - left).map((line, index) => `  ${(index === 0 ? label : "").padEnd(left - 2)}${line}`),
    )
    .join("\n");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
