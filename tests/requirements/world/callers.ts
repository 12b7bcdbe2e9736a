import type { AnyServerDefinition, HttpOptions, JsonObject } from "../library.ts";
import type { RawPeer } from "../../support/raw-peer.ts";
import type { World } from "./world.ts";

/** Authenticates every request as one user with these scopes. */
export function asUser(subject: string, ...scopes: string[]): HttpOptions {
  return { auth: () => ({ issuer: "https://issuer.example", subject, scopes }) };
}

/** Serves a definition over HTTP to a user with these scopes. */
export function serveGranted(
  world: World,
  definition: Partial<AnyServerDefinition>,
  scopes: string[],
  capabilities: JsonObject = {},
): Promise<RawPeer> {
  return world.serve(definition, { capabilities, http: asUser("a user", ...scopes) });
}
