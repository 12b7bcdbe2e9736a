import { DEFAULT_IDLE_TIMEOUT, PendingRequests } from "../rpc/pending-requests.ts";
import { link } from "../rpc/abort.ts";
import { checkTime, systemClock, wakefulClock } from "../rpc/clock.ts";
import { LocalError, hasCode } from "../rpc/errors.ts";
import type { Transport } from "../rpc/transport.ts";
import { guarded } from "../rpc/guarded.ts";
import { Cache } from "./lists/cache.ts";
import { makeCall, waitWithin } from "./calls/call.ts";
import type { ClientCore, InputAnswers } from "./core.ts";
import { Client } from "./client.ts";
import { KnownTools } from "./calls/known-tools.ts";
import { toolPages } from "./lists/lists.ts";
import { infoWithSafeIcons } from "./lists/safe-icons.ts";
import { sendWithin } from "./calls/perform.ts";
import { declaring, isExtensionList, preparedCapabilities } from "./client-capabilities.ts";
import { loadLegacy } from "./legacy/load.ts";
import { type ConnectOptions, checkTimeouts } from "./options.ts";
import { ClientConnection } from "./connect/client-connection.ts";
import type { Opening } from "./connect/handshake.ts";
import { negotiate } from "./connect/find-revision.ts";
import { serverMessages } from "./connect/server-messages.ts";
import { type Session, Sessions } from "./connect/session.ts";
import type { TransportFactory } from "./connect/transports.ts";

const defaultInfo = { name: "mcparley", version: "0.1.0" };
const defaultProbe = 5000;

/**
 * Connects to a server over transports of a custom factory. `connect` is simpler for the transports of the library.
 *
 * The client opens a new transport each time that the connection is lost. Rejects with `LocalError` if no connection can be
 * opened.
 *
 * @example
 * ```ts
 * import { type Transport, openClient } from "mcparley/client";
 *
 * declare function openSocket(url: string): Transport;
 *
 * const target = "wss://example.com/mcp";
 * await using client = await openClient({ kind: "stream", target, open: () => openSocket(target) });
 * console.log(await client.listTools().all());
 * ```
 */
export async function openClient(transports: TransportFactory, options: ConnectOptions = {}): Promise<Client> {
  checkTimeouts(options.timeout);
  checkTime("probeTimeout", options.probeTimeout);
  checkTime("pingInterval", options.pingInterval);
  const closing = new AbortController();
  /** The connections that are closed after the caller has aborted. */
  const closings: Promise<void>[] = [];
  let { signal } = options;
  const clientOptions = transports.extension === undefined ? options : declaring(options, transports.extension);
  const core: ClientCore = makeCore(transports, clientOptions, {
    closing: closing.signal,
    sessions: new Sessions({
      open: () => openSession(core, { makeConnection, signal, closing: (end) => void closings.push(end) }),
      opensOnce: transports.once === true,
      onLost: (reason) => core.report(reason),
    }),
  });
  const messages = serverMessages(core);
  const makeConnection = (transport: Transport): ClientConnection =>
    new ClientConnection(transport, core.clock, messages);
  const close = async (): Promise<void> => {
    const reason = new LocalError("closed", "The client was closed.");
    closing.abort(reason);
    core.waits.failAll(reason);
    // The work of extensions may continue for a limited time.
    await core.sessions.close(core.extensions?.finish(core));
    await Promise.all(closings);
  };
  try {
    // Few clients have extensions with code.
    if (isExtensionList(clientOptions.extensions))
      core.extensions = (await import("./calls/extensions.ts")).extensionSteps;
    const { server } = await core.sessions.ensure();
    // The signal of the options only ends the first connection attempt.
    signal = undefined;
    if (options.pingInterval) (await loadLegacy()).startPings(core);
    return new Client({ core, server, close });
  } catch (error) {
    const end = close();
    // A process may take seconds to end. A caller that aborts, or whose time is over, does not wait for it.
    if (!signal?.aborted && !hasCode(error, "timeout")) await end;
    throw error;
  }
}

async function openSession(
  core: ClientCore,
  { signal, ...opening }: Pick<Opening, "makeConnection" | "closing"> & { signal: AbortSignal | undefined },
): Promise<Session> {
  const { transports, offer, options } = core;
  const scope = link(core.closing, signal);
  try {
    const negotiation = negotiate({
      ...opening,
      core,
      transports,
      clock: options.clock ?? wakefulClock,
      offer,
      revision: options.revision ?? "auto",
      probeTimeout: options.probeTimeout ?? defaultProbe,
      timeout: options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT,
      signal: scope.signal,
    });
    const limit = { what: "Connecting", totalTimeout: options.timeout?.total };
    const { connection, revision, server } = await waitWithin(core, negotiation, limit).catch((error: unknown) => {
      scope.abort(error);
      // Its reason has precedence over the abort.
      return signal?.aborted || core.closing.aborted ? negotiation : Promise.reject(error);
    });
    if (revision.kind === "modern") connection.accept(undefined);
    // It may be another server than before, or another version of it.
    core.cache?.forget();
    core.tools.clear();
    const mirrors = transports.kind === "http" && revision.mirrorHeaders;
    const info = server.info && infoWithSafeIcons(server.info, transports);
    return { connection, revision, server: { ...server, info }, mirrors };
  } finally {
    scope.unlink();
  }
}

function makeCore(
  transports: TransportFactory,
  options: ConnectOptions,
  { closing, sessions }: Pick<ClientCore, "closing" | "sessions">,
): ClientCore {
  const clock = options.clock ?? systemClock;
  let input: Promise<InputAnswers> | undefined;
  const core: ClientCore = {
    options,
    transports,
    clock,
    closing,
    sessions,
    // Most servers ask for no input, and the code needs the JSON Schema reader for forms.
    input: () =>
      (input ??= import("./input/input-rounds.ts").then(({ inputAnswers }) => inputAnswers(options, core.report))),
    extensions: undefined,
    subscriptions: undefined,
    offer: { info: options.info ?? defaultInfo, capabilities: preparedCapabilities(options) },
    cache: options.cache === false ? undefined : new Cache(clock, transports.credentials),
    tools: new KnownTools(clock),
    waits: new PendingRequests(clock),
    running: new Set(),
    pendingWork: new Set(),
    logLevel: undefined,
    toolPages: (request) => toolPages(core, request),
    sendWithin: (request, requestOptions, session) => sendWithin(makeCall(core, request, requestOptions), session),
    inputSource: (what, signal) => ({
      target: transports.target,
      server: sessions.current?.server.info,
      during: what,
      signal,
      progress() {},
    }),
    report(error) {
      // There is nobody to report an error of `onError` to.
      guarded(
        () => options.onError?.(error instanceof Error ? error : new Error(String(error))),
        () => {},
      );
    },
  };
  return core;
}
