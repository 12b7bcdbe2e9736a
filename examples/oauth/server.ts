import { jwtVerifier, protectedResource } from "mcparley/auth";
import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";

const port = Number(process.env.PORT ?? 3000);
/** The URL at which clients find this server. Tokens must be issued for it. */
const resource = process.env.RESOURCE ?? `http://127.0.0.1:${port}/mcp`;
const issuer = process.env.ISSUER ?? (await startLocalIssuer());

const notes = new Map<string, string[]>();

const listNotes = tool({
  description: "Lists the notes of the caller.",
  annotations: { readOnlyHint: true },
  scopes: ["notes:read"],
  call: (_input, ctx) => notes.get(ownerOf(ctx.principal))?.join("\n") ?? "There are no notes.",
});

// The first call asks the user for the scope, because the first sign-in requests only "notes:read".
const addNote = tool({
  description: "Adds a note of the caller.",
  annotations: { readOnlyHint: false, destructiveHint: false },
  scopes: ["notes:write"],
  input: z.object({ text: z.string().min(1).max(10_000) }),
  call: ({ text }, ctx) => {
    const owner = ownerOf(ctx.principal);
    notes.set(owner, [...(notes.get(owner) ?? []), text]);
    return `Added. ${ctx.principal?.subject} has ${notes.get(owner)?.length} notes.`;
  },
});

const server = createServer({
  name: "notes",
  version: "1.0.0",
  tools: { list_notes: listNotes, add_note: addNote },
});

const running = await listen(server, {
  port,
  allowedHosts: [new URL(resource).hostname],
  auth: protectedResource({
    resource,
    issuers: [issuer],
    verifier: jwtVerifier({ issuer, audience: resource }),
    scopes: ["notes:read"],
    scopeHierarchy: (scope) => (scope === "notes:write" ? ["notes:read"] : []),
  }),
});
console.log(`Listening on ${running.url}. Tokens come from ${issuer}.`);
process.once("SIGTERM", () => void running.close().finally(() => process.exit()));

/** The issuer belongs to the key, because two issuers can have users of the same name. */
function ownerOf(principal: { issuer: string; subject: string } | undefined): string {
  return JSON.stringify([principal?.issuer, principal?.subject]);
}

async function startLocalIssuer(): Promise<string> {
  const { startAuthorizationServer } = await import("./authorization-server.ts");
  return startAuthorizationServer({ resource, scopes: "notes:read notes:write" });
}
