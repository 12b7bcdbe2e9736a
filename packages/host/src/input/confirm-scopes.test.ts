import { expect, test } from "vitest";
import { systemClock } from "mcparley";
import { confirmScopes } from "./elicit-handler.ts";

type Question = Parameters<typeof confirmScopes>[0];

const purpose = {
  server: new URL("https://notes.example/mcp"),
  issuer: "https://as.example",
  scopes: ["read", "write"],
  missingScopes: ["write"],
} as never;
const { signal } = new AbortController();

interface Setting {
  isAny?: boolean;
  action?: "allow" | "deny";
  hasSignIn?: boolean;
}

function asking({ isAny = true, action = "allow", hasSignIn = true }: Setting) {
  const asked: unknown[] = [];
  const decisions: unknown[] = [];
  const question = {
    server: "notes",
    clock: systemClock,
    calls: { current: () => ({ isAny, label: isAny ? "read" : undefined }) },
    renderer: hasSignIn ? { signIn: (request: unknown) => (asked.push(request), { action }) } : {},
    ask: async (work: () => unknown) => work(),
    onDecision: (decision: unknown) => void decisions.push(decision),
  } as unknown as Question;
  return { confirm: () => confirmScopes(question)(purpose, signal), asked, decisions };
}

test.each([
  ["allow", true, "allowed"],
  ["deny", false, "denied"],
] as const)("a call that needs scopes asks the user, and the answer %s is %s", async (action, isAllowed, outcome) => {
  const { confirm, asked, decisions } = asking({ action });
  expect(await confirm()).toBe(isAllowed);
  expect(asked).toMatchObject([
    { server: "notes", during: "read", missingScopes: ["write"], scopes: ["read", "write"] },
  ]);
  expect(decisions).toMatchObject([{ subject: "sign-in", name: "scopes", outcome, by: "person" }]);
});

test.each([
  ["in the background", { isAny: false }],
  ["without a renderer for it", { hasSignIn: false }],
])("nobody is asked for scopes %s", async (_, setting) => {
  const { confirm, asked, decisions } = asking(setting);
  expect(await confirm()).toBeUndefined();
  expect([...asked, ...decisions]).toEqual([]);
});
