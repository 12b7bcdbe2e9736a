import type { CallActivity } from "../../../packages/host/src/activity/active-calls.ts";
import type { Conversation } from "../../../packages/host/src/context/conversation-context.ts";
import type { ToolOutcome } from "../../../packages/host/src/conversation/messages.ts";
import type { AiSdkTool } from "../../../packages/host/src/host/ai-sdk-tools.ts";
import type { HostEvent, HostOptions, Host } from "../../../packages/host/src/host/host.ts";
import type { Run, RunEvent } from "../../../packages/host/src/loop/run-events.ts";
import type { Renderer } from "../../../packages/host/src/renderer/renderer.ts";
import type { HostServer } from "../../../packages/host/src/servers/server-entry.ts";

/**
 * Whether secrets are sent on a way. `secrets`: the servers or the model send them, so they must arrive as `[redacted]`. Another text is the
 * reason why none is sent.
 */
type Way = string;

type Members<T> = Readonly<Record<Exclude<keyof T, symbol>, Way>>;
type Kinds<T extends string> = Readonly<Record<T, Way>>;

const nothing = "returns nothing";
const own = "has only what the program has passed";
const data = "is data of the program";

/** All ways on which values leave a host, from its public types. A new member, event or option does not compile until it is listed. */
export const waysOut: {
  readonly host: Members<Host>;
  readonly server: Members<HostServer>;
  readonly conversation: Members<Conversation>;
  readonly run: Members<Run>;
  readonly aiSdk: Members<AiSdkTool>;
  readonly question: Members<Renderer>;
  readonly option: Members<HostOptions>;
  readonly event: Kinds<HostEvent["type"]>;
  readonly runEvent: Kinds<RunEvent["type"]>;
  readonly activity: Kinds<CallActivity["type"]>;
  readonly outcome: Kinds<ToolOutcome["status"]>;
} = {
  host: {
    servers: "leaves as the ways of `server`",
    catalogue: "secrets",
    ready: "secrets",
    add: "leaves as the ways of `server`",
    remove: nothing,
    setRoots: nothing,
    callTool: "secrets",
    getPrompt: "secrets",
    readResource: "secrets",
    complete: "secrets",
    watch: "secrets",
    run: "leaves as the ways of `run`",
    conversation: "leaves as the ways of `conversation`",
    subscribe: "leaves as the ways of `event`",
    close: nothing,
  },
  server: {
    name: own,
    state: "is one of six words",
    error: "secrets",
    retryAt: "is a number",
    info: "secrets",
    lists: "secrets",
    connect: "secrets",
    reconnect: "secrets",
    signIn: "secrets",
    enable: nothing,
    disable: nothing,
  },
  conversation: {
    messages: "secrets",
    attachments: "secrets",
    user: nothing,
    add: nothing,
    replace: nothing,
    attach: "secrets",
    attachTemplate: "secrets",
    detach: "returns a boolean",
    refresh: "secrets",
    prompt: "secrets",
    callTool: "secrets",
    completeArgument: "secrets",
    toJSON: "secrets",
    close: nothing,
  },
  run: { finished: "secrets", cancel: nothing, cancelCalls: "returns a number" },
  aiSdk: {
    description: "secrets",
    inputSchema: "secrets",
    execute: "secrets",
    toModelOutput: "has only what `execute` has returned",
  },
  question: {
    trust: "shows the program that is started, with its arguments",
    review: "secrets",
    approve: "shows the arguments that are sent",
    form: "secrets",
    url: "secrets",
    signIn: "has the URL and the scopes of the sign-in, and not its tokens",
    sample: "secrets",
    sampled: "shows the answer that is sent to the server",
  },
  option: {
    servers: "receives the secrets of each server, which it has passed",
    info: data,
    model: "secrets",
    modelTries: data,
    provider: data,
    renderer: "leaves as the ways of `question`",
    policy: data,
    folder: "secrets",
    roots: data,
    inputLimits: data,
    signIn: "receives the page of the sign-in",
    authorization: data,
    credentials: "stores the tokens",
    onEvent: "leaves as the ways of `event`",
    clock: "receives times",
  },
  event: {
    server: "secrets",
    catalogue: "secrets",
    loss: "secrets",
    decision: "secrets",
    retry: "secrets",
    log: "secrets",
    updated: "secrets",
    usage: "has numbers",
    "sign-in": "has steps without tokens",
    error: "secrets",
  },
  runEvent: {
    step: "is a number",
    text: "secrets",
    reasoning: "secrets",
    call: "secrets",
    activity: "secrets",
    result: "secrets",
    usage: "has numbers",
    end: "secrets",
  },
  activity: {
    approval: "has the state of a question",
    sent: "has no members",
    "input-request": "has the state of a question",
    progress: "secrets",
    task: "leaves by the function that reports progress",
    usage: "has numbers",
  },
  outcome: { result: "secrets", denied: "secrets", failed: "secrets" },
};
