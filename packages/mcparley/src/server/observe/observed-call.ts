import type { RequestId } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Call } from "../dispatch/call.ts";
import type { Peer, Principal } from "../dispatch/context.ts";
import { methodTable } from "../dispatch/methods.ts";
import type { ObservedCall } from "./observer.ts";

const maxName = 500;
const maxArguments = 50;

/** What observers are shown of a call. */
export class SeenCall implements ObservedCall {
  readonly at: number;
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
    this.at = call.core.clock.now();
  }

  get id(): RequestId {
    return this.#call.id;
  }

  get method(): string {
    return this.#call.method;
  }

  get name(): string | undefined {
    const { name, uri } = this.#call.params;
    const named = name ?? uri;
    return typeof named === "string" ? named.slice(0, maxName) : undefined;
  }

  get known(): boolean {
    const { core, method, params } = this.#call;
    if (!methodTable.has(method) && !core.extensionMethod(method)) return false;
    const { tools, prompts } = core.offering;
    if (method === Method.callTool) return tools.get(String(params.name)) !== undefined;
    return method !== Method.getPrompt || prompts.get(String(params.name)) !== undefined;
  }

  get peer(): Peer {
    return this.#call.peer;
  }

  get principal(): Principal | undefined {
    return this.#call.principal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    return this.#call.meta;
  }

  get network(): "tcp" | "pipe" | undefined {
    return this.#call.network;
  }

  get arguments(): Record<string, string> {
    const { arguments: given } = this.#call.params;
    if (typeof given !== "object" || given === null) return {};
    const entries = Object.entries(given).slice(0, maxArguments);
    return Object.fromEntries(entries.map(([key, value]) => [key.slice(0, 100), typeName(value)]));
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `array(${value.length})` : typeof value;
}
