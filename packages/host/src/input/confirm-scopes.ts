import type { SignInPurpose } from "mcparley/auth";
import type { ActiveCalls } from "../activity/active-calls.ts";
import type { Renderer } from "../renderer/renderer.ts";
import { type InputContext, decide } from "./input-context.ts";

/** The server of the question, and the parts of the host that ask it. */
interface ScopeQuestion extends Pick<InputContext, "server" | "clock" | "ask" | "onDecision"> {
  readonly renderer: Pick<Renderer, "signIn">;
  readonly calls: Pick<ActiveCalls, "current">;
}

/** Resolves with whether the user agreed to sign in for the missing scopes. Undefined if nobody was asked. */
export type ConfirmScopes = (purpose: SignInPurpose, signal: AbortSignal) => Promise<boolean | undefined>;

/** Returns the function that asks the user whether to sign in for the scopes that a call needs. */
export function confirmScopes({ renderer, calls, ...context }: ScopeQuestion): ConfirmScopes {
  return async ({ server: url, issuer, scopes = [], missingScopes = [] }, signal) => {
    const { isAny, label: during } = calls.current();
    const { signIn } = renderer;
    // A request in the background must not open a page.
    if (!signIn || !isAny) return undefined;
    const request = { server: context.server, url, issuer, during, missingScopes, scopes };
    const { action } = await context.ask(() => signIn(request, signal), signal);
    const isAllowed = action === "allow";
    decide(context, { subject: "sign-in", name: "scopes", outcome: isAllowed ? "allowed" : "denied", by: "person" });
    return isAllowed;
  };
}
