import { type ConfiguredServer, type ServerTarget, referencesIn } from "@mcparley/config";
import { LocalError } from "mcparley";
import { approve } from "../../targets/approval.ts";
import type { Target } from "../../targets/target.ts";
import { readConnection } from "../../targets/network.ts";
import { type NewServer, expandNew } from "./new-target.ts";
import type { AddOptions } from "./options.ts";
import type { CommandSetting } from "../connection/command.ts";
import { type ProgramOutput, programOutput } from "../connection/program-output.ts";
import { openSession } from "../connection/session.ts";
import { targetOf } from "../../targets/find-server.ts";

/**
 * Asks for the consent to a server of a configuration file, before a program looks for its packages. References need no values, because
 * nothing is started.
 */
export async function approveOrigin(server: ConfiguredServer, setting: CommandSetting<AddOptions>): Promise<void> {
  const { io } = setting;
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
export async function tryServer(
  { target, origin }: NewServer,
  setting: CommandSetting<AddOptions>,
): Promise<string | undefined> {
  const { io, screen, options, facts } = setting;
  const missing = unknownValue(target, io.env);
  if (missing !== undefined) {
    screen.noteParagraph(`The server was not checked, because ${missing} has no value here.`);
    return undefined;
  }
  const server = origin ? await targetOf({ ...origin, target }, io) : expandNew(target, io);
  if (server.origin) await approve(server.origin, setting);
  facts.target = { word: undefined, command: undefined, headerNames: [] };
  const program = server.kind === "command" ? programOutput(screen, { isLive: options.verbose }) : undefined;
  if (program) facts.program = program;
  try {
    return await show(server, { ...setting, program });
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

async function show(
  target: Target,
  setting: CommandSetting<AddOptions> & { program: ProgramOutput | undefined },
): Promise<string | undefined> {
  const { io, screen, options, stop } = setting;
  const connection = target.kind === "url" ? readConnection(options, io) : undefined;
  const connectionTarget = connection ? { ...target, connection } : target;
  const { client } = await openSession(connectionTarget, { ...setting, auth: undefined });
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
