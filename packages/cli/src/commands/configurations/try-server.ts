import { type ConfiguredServer, type ServerTarget, referencesIn } from "@mcparley/config";
import { LocalError } from "mcparley";
import { approve } from "../../targets/approval.ts";
import type { Target } from "../../targets/target.ts";
import { readConnection } from "../../targets/network.ts";
import { programOutput } from "../connection/program-output.ts";
import { type EditSetting, openSession } from "../connection/session.ts";
import { targetOf } from "../../targets/find-server.ts";

/**
 * Asks for the consent to a server of a configuration file, before a program looks for its packages. References need no values, because
 * nothing is started. The words of the command line need no consent.
 */
export async function approveSource(server: ConfiguredServer, setting: EditSetting): Promise<void> {
  const { io } = setting;
  if (server.file === "") return;
  const references = server.target ? referencesIn(server.target) : [];
  const blank = Object.fromEntries(references.flatMap((one) => (one.kind === "env" ? [[one.name, ""]] : [])));
  const { origin } = await targetOf(server, { cwd: io.cwd, env: { ...blank, ...io.env } }, () => "");
  if (origin) await approve(origin, setting);
}

/**
 * Connects once to a server, shows its name and the number of its tools, and returns the name.
 *
 * Returns undefined, with a note, if a value of its references is unknown here, or if it requires a sign-in. Rejects if the connection
 * fails. A program of a configuration needs the approval of the user.
 */
export async function tryServer(server: ConfiguredServer, setting: EditSetting): Promise<string | undefined> {
  const { io, screen, options, connected } = setting;
  const missing = server.target && unknownValue(server.target, io.env);
  if (missing !== undefined) {
    screen.noteParagraph(`The server was not checked, because ${missing} has no value here.`);
    return undefined;
  }
  const { origin, ...target } = await targetOf(server, io);
  // Without a file, the words of the command line are the server.
  if (origin && server.file !== "") await approve(origin, setting);
  connected.target = { word: undefined, command: undefined, headerNames: [] };
  const program = target.kind === "command" ? programOutput(screen, { isLive: options.verbose }) : undefined;
  if (program) connected.program = program;
  try {
    return await show(target, { ...setting, program });
  } catch (error) {
    if (error instanceof LocalError && (error.code === "unauthorized" || error.code === "sign_in_required")) {
      screen.noteParagraph("The server requires a sign-in, so its tools were not checked. Sign in with the host.");
      return undefined;
    }
    screen.noteParagraph(
      "The server was not added, because the connection failed. --no-check adds it without a connection.",
    );
    throw error;
  }
}

interface ShowSetting extends EditSetting {
  readonly program: ReturnType<typeof programOutput> | undefined;
}

async function show(target: Target, setting: ShowSetting): Promise<string | undefined> {
  const { io, screen, options, stop } = setting;
  const connection = target.kind === "url" ? readConnection(options.network, io) : undefined;
  const reached = connection ? { ...target, connection } : target;
  const { client } = await openSession(reached, {
    ...setting,
    auth: undefined,
    callsTools: false,
    onRefused: () => {},
  });
  try {
    const tools = client.server.capabilities.tools ? await client.listTools({ signal: stop.signal }).all() : [];
    const { info, revision } = client.server;
    const name = info === undefined ? "a server without a name" : `${info.name} ${info.version}`;
    const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
    screen.noteParagraph(`Connected to ${name}: ${count}, revision ${revision}.`);
    return info?.name;
  } finally {
    await client.close();
  }
}

/** Returns a reference that has no value outside of the host, such as a variable that is not set. */
function unknownValue(target: ServerTarget, env: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const reference of referencesIn(target)) {
    if (reference.kind === "input") return `the input ${reference.id}`;
    if (reference.kind === "env" && reference.fallback === undefined && env[reference.name] === undefined) {
      return `the variable ${reference.name}`;
    }
  }
  return undefined;
}
