import { toError } from "../values/errors.ts";
import { LocalError, printableJson } from "mcparley";
import { connect, type Timeouts } from "mcparley/client";
import { maxListBytes, type ReadLists } from "./check-entries.ts";
import { LiveConnection, type LiveSetting } from "./live-connection.ts";
import type { PassedOptions, PreparedTarget, SupervisedEntry } from "./supervisor-setting.ts";
import type { ServerAuth } from "./server-auth.ts";
import { deadline, unlessAborted } from "../async/timing.ts";

/**
 * Milliseconds from the start of the connection to the end of the handshake. A package runner can download the server in this
 * time.
 */
const connectTime = 120_000;

export interface OpenSetting extends Pick<LiveSetting, "clock" | "onLists" | "report"> {
  readonly entry: SupervisedEntry;
  readonly auth: ServerAuth;
  readonly connectOptions: PassedOptions;
  /** Asks for the consent to start or to connect to the server. */
  admit(this: void, signal: AbortSignal): Promise<void>;
  /** Returns the target to connect to, such as a program behind a watchdog. */
  prepareTarget(this: void, target: PreparedTarget): PreparedTarget;
}

/** An open connection, and the lists of its server. */
export interface Opened {
  readonly connection: LiveConnection;
  readonly read: ReadLists;
}

/**
 * Opens a connection: consent, sign-in if the user asked for it, handshake, lists.
 *
 * The time for the consent and the sign-in is that of the user, and not limited here. An abort of the signal
 * closes a connection that is being opened, and then rejects.
 */
export async function openConnection(
  setting: OpenSetting,
  { signal, signsIn }: { signal: AbortSignal; signsIn: boolean },
): Promise<Opened> {
  const { entry, auth } = setting;
  signal.throwIfAborted();
  await unlessAborted(setting.admit(signal), signal);
  if (signsIn) await unlessAborted(signIn(entry.name, auth, signal), signal);
  const { server } = entry;
  const target = server.kind === "http" ? await auth.authorize(server.target) : server.target;
  const connection = await handshake(setting, setting.prepareTarget(target), signal);
  try {
    const read = await connection.start(signal);
    signal.throwIfAborted();
    return { connection, read };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Signs the user in. Every failure is one of the sign-in, so that the server stays in `needs-sign-in`. */
async function signIn(name: string, auth: ServerAuth, signal: AbortSignal): Promise<void> {
  try {
    await auth.signIn(signal);
  } catch (cause) {
    const reason = toError(cause).message;
    throw new LocalError("sign_in_failed", `The sign-in at server ${printableJson(name)} failed. ${reason}`, { cause });
  }
}

async function handshake(setting: OpenSetting, target: PreparedTarget, parent: AbortSignal): Promise<LiveConnection> {
  const { clock, connectOptions, entry, report, onLists } = setting;
  const { timeout } = entry.settings;
  const maxTotal = timeout?.total ?? Infinity;
  const ms = Math.min(connectTime, maxTotal);
  const limit = deadline(clock, parent, { ms, message: `The server did not connect within ${ms} ms.` });
  let connection: LiveConnection | undefined;
  const onError = (error: Error): void => {
    report(error);
    connection?.handleClientError(error);
  };
  const ownOptions = { clock, onError, timeout, maxListBytes, signal: limit.signal };
  try {
    const client = await connect<unknown>(target, { ...connectOptions, ...ownOptions });
    connection = new LiveConnection(client, { kind: entry.server.kind, clock, maxListTime: maxTotal, onLists, report });
    return connection;
  } catch (error) {
    throw limit.signal.aborted && !parent.aborted ? timedOut(limit.signal, timeout) : error;
  } finally {
    limit.clear();
  }
}

function timedOut(signal: AbortSignal, timeout: Timeouts | undefined): LocalError {
  const message = signal.reason instanceof Error ? signal.reason.message : "The connection timed out.";
  const cure = timeout?.total === undefined ? "" : " Increase `timeout.total` of the server if it is slow.";
  return new LocalError("timeout", `${message}${cure}`);
}
