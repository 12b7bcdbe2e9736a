import { systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { link } from "../../rpc/abort.ts";
import { Cache } from "../calls/cache.ts";
import { Channel } from "./connection.ts";
import { channelOwner } from "./server-messages.ts";
import { capabilitiesOf, declaring } from "../client-capabilities.ts";
import { Client } from "../calls/client.ts";
import type { Connection } from "./session.ts";
import type { ClientCore } from "../calls/call.ts";
import { establish } from "./find-revision.ts";
import type { Dialer } from "./transports.ts";
import { KnownTools } from "../calls/known-tools.ts";
import { Line } from "./line.ts";
import { listTools } from "../calls/list-sources.ts";
import type { ConnectOptions } from "../options.ts";
import type { Questions } from "../input/input-requests.ts";
import { UrlVisits } from "../input/url-visits.ts";

const defaultInfo = { name: "mcparley", version: "0.1.0" };
const defaultProbe = 5000;
const defaultIdle = 60_000;

/** Makes a client of what a dialer dials, connected. Rejects where no connection can be made. */
export async function openClient(dialer: Dialer, options: ConnectOptions = {}): Promise<Client> {
  const closing = new AbortController();
  let { signal } = options;
  const declared = dialer.extension === undefined ? options : declaring(options, dialer.extension);
  const core: ClientCore = makeCore(dialer, declared, {
    closing: closing.signal,
    line: new Line({
      open: () => open(core, signal),
      once: dialer.once === true,
      lost: (reason) => core.report(reason),
    }),
  });
  const close = async (): Promise<void> => {
    closing.abort(new LocalError("closed", "The client was closed."));
    await core.line.close();
  };
  try {
    const { server } = await core.line.get();
    signal = undefined;
    return new Client({ core, server, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(core: ClientCore, signal: AbortSignal | undefined): Promise<Connection> {
  const { dialer, clock, offer, options } = core;
  const owner = channelOwner(core);
  const linked = link(core.closing, signal);
  try {
    const { channel, revision, server } = await establish({
      dialer,
      clock,
      offer,
      channel: (transport) => new Channel(transport, clock, owner),
      revision: options.revision ?? "auto",
      probeTimeout: options.probeTimeout ?? defaultProbe,
      timeout: options.timeout?.idle ?? defaultIdle,
      signal: linked.signal,
    });
    if (revision.era === "modern") owner.refuseRequests(channel);
    // It may be another server than before, or another version of it.
    core.cache?.forget();
    core.tools.clear();
    return { channel, revision, server, mirrors: dialer.kind === "http" && revision.mirrorHeaders };
  } finally {
    linked.unlink();
  }
}

function makeCore(
  dialer: Dialer,
  options: ConnectOptions,
  { closing, line }: Pick<ClientCore, "closing" | "line">,
): ClientCore {
  const clock = options.clock ?? systemClock;
  let questions: Promise<Questions> | undefined;
  const core: ClientCore = {
    options,
    dialer,
    clock,
    closing,
    line,
    questions: () =>
      (questions ??= import("../input/input-requests.ts").then(({ Questions }) => new Questions(options, core.report))),
    subscriptions: undefined,
    offer: { info: options.info ?? defaultInfo, capabilities: (era) => capabilitiesOf(options, era) },
    cache: options.cache === false ? undefined : new Cache(clock),
    tools: new KnownTools((error) => core.report(error)),
    visits: new UrlVisits(),
    running: new Set(),
    logLevel: undefined,
    listTools: (request) => listTools(core, request),
    asker: (during, signal) => ({ target: dialer.target, server: line.current?.server.info, during, signal }),
    report(error) {
      try {
        options.onError?.(error instanceof Error ? error : new Error(String(error)));
      } catch {
        // Whoever is told of errors has nobody to be told of its own.
      }
    },
  };
  return core;
}
