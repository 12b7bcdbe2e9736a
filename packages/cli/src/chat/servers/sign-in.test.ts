import { expect, test } from "vitest";
import { renewalRefusals } from "./sign-in.ts";

test("the reason for which tokens could not be renewed is that of the server with the URL of the sign-in", () => {
  const refusals = renewalRefusals([
    { name: "notes", entry: { target: { url: "https://notes.example/mcp" } } },
    { name: "other", entry: { target: { url: "https://other.example" } } },
    { name: "program", entry: { target: { command: "node", args: ["server.js"] } } },
  ]);
  const step = 'The authorization server "https://as.example" refused to refresh tokens: invalid_grant.';
  refusals.listen({ type: "sign-in", server: "notes", step: "Scopes to request: a" });
  expect(refusals.reasonOf("https://notes.example/mcp")).toBeUndefined();
  refusals.listen({ type: "sign-in", server: "notes", step });
  expect(refusals.reasonOf("https://notes.example/mcp")).toBe(step);
  expect(refusals.reasonOf("https://other.example/")).toBeUndefined();
  expect(refusals.reasonOf("https://unknown.example/")).toBeUndefined();
});
