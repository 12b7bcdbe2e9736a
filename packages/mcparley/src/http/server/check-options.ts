import { explainErrors } from "../../server/checks/check-definition.ts";
import { checkNames } from "../../server/checks/known-members.ts";
import type { HttpOptions } from "./options.ts";

const members =
  "path:string allowedHosts:texts|any allowedOrigins:texts|any cors:boolean|object auth:function|object|list maxBody:count bodyTimeout:time readTimeout:time trustProxy:string|object keepAlive:time closeTimeout:time health:boolean|object sessions:boolean|object legacySse:boolean|object events:object createServer({_store_})=store";
const listenMembers = " port host:string=hostname headersTimeout:time requestTimeout:time keepAliveTimeout:time";
const otherMembers = " an_option_of_listen=port,host,hostname,headersTimeout,requestTimeout,keepAliveTimeout";

const nestedMembers = {
  cors: "headers:texts exposedHeaders:texts credentials:boolean maxAge:count",
  trustProxy: "header:string hops:positive",
  health: "live:string ready:string",
  sessions: "idle:time max:count totalSize:count handshake:time",
  legacySse: "path:string messages:string",
  events: "ttl:time maxLength:count retry:time maxStream:time",
} as const;

/** Throws `LocalError` `invalid_definition` for the first wrong option. `listens` is whether the endpoint opens a port. */
export function checkOptions(options: HttpOptions, listens: boolean): void {
  explainErrors("HTTP endpoint", () => {
    checkNames(members + (listens ? listenMembers : otherMembers), options, "options");
    for (const [name, entries] of Object.entries(nestedMembers)) {
      const value = options[name as keyof typeof nestedMembers];
      if (typeof value === "object") checkNames(entries, value, name);
    }
    const { path = "", allowedHosts, allowedOrigins, cors, trustProxy } = options;
    if (path.includes("://")) throw new TypeError('"path" must be a path, such as "/mcp"');
    checkEntries("allowedHosts", allowedHosts, { example: "example.com", form: /^(\[.+\]|[^\s:/*]+)(:\d+)?$/ });
    checkEntries("allowedOrigins", allowedOrigins, {
      example: "https://example.com",
      form: /^(null|[\w+.-]+:\/\/[^\s/*]+\/?)$/,
    });
    if (typeof trustProxy === "object" && !trustProxy.header) throw new TypeError('"trustProxy" needs a "header"');
    // Any web page could call with the cookies of its visitor.
    if (allowedOrigins === "any" && typeof cors === "object" && cors.credentials)
      throw new TypeError('cors.credentials needs a list of allowedOrigins, not "any"');
  });
}

/** Throws for an entry that no header can equal. */
function checkEntries(
  option: string,
  list: HttpOptions["allowedHosts"],
  { form, example }: { form: RegExp; example: string },
): void {
  const wrong = list === "any" ? undefined : list?.find((entry) => !form.test(entry));
  if (wrong !== undefined)
    throw new TypeError(
      `"${option}" cannot match "${wrong.slice(0, 80)}"; write entries such as "${example}", or "any"`,
    );
}
