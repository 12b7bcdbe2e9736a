import type { ApprovalRequest, Renderer } from "@mcparley/host";
import type { RunDialog, Talk } from "../../terminal/questions/choose.ts";
import { Dismissed } from "../../terminal/questions/prompter.ts";
import { askApproval, isDestructive } from "./approve.ts";
import { askFields, askVisit } from "./input-requests.ts";
import { askReview } from "./review.ts";
import { askSample, askSampled } from "./sampling.ts";

/** The terminal and the state of the chat that the dialogs need. */
export interface DialogSetting {
  readonly talk: RunDialog;
  readonly openUrl: (url: string) => Promise<void>;
  /** Whether the user has just composed this call. It is not asked for again, unless the tool is destructive. */
  readonly isComposed: (request: ApprovalRequest) => boolean;
  /** Whether the user answers sampling requests, because there is no model. */
  readonly isManual: boolean;
  /** Called with an unexpected error of a dialog. The answer was no. */
  readonly onError?: (error: Error) => void;
}

/** Returns the renderer of the chat, which asks at the terminal. Without an answer it refuses, and it never throws. */
export function chatRenderer(setting: DialogSetting): Required<Omit<Renderer, "trust">> {
  const { talk, openUrl, isComposed, isManual, onError } = setting;
  const denial = { action: "deny" } as const;
  const cancellation = { action: "cancel" } as const;

  /** Runs a dialog. Returns `refusal` if it is withdrawn or fails. */
  async function ask<T>(signal: AbortSignal, refusal: T, dialog: (talk: Talk) => Promise<T>): Promise<T> {
    try {
      const answer = await talk(signal, (prompter, view) => dialog({ prompter, view }));
      // The server may have withdrawn the request while its answer was typed.
      return signal.aborted ? refusal : answer;
    } catch (error) {
      if (!(error instanceof Dismissed)) onError?.(error instanceof Error ? error : new Error(String(error)));
      return refusal;
    }
  }

  return {
    review: (request, signal) => ask(signal, { accepted: [] }, (terminal) => askReview(request, terminal)),
    approve: (request, signal) => {
      if (isComposed(request) && !isDestructive(request.tool)) return { action: "allow" };
      return ask(signal, denial, (terminal) => askApproval(request, terminal));
    },
    form: (request, signal) => ask(signal, cancellation, (terminal) => askFields(request, terminal)),
    url: (request, signal) => ask(signal, cancellation, (terminal) => askVisit(request, openUrl, terminal)),
    // `chatSignIn` shows the scopes and asks before it opens the page.
    signIn: () => ({ action: "allow" }),
    sample: (request, signal) => ask(signal, denial, (terminal) => askSample(request, isManual, terminal)),
    sampled: (request, signal) => {
      // The user has written the answer.
      if (isManual) return { action: "allow" };
      return ask(signal, denial, (terminal) => askSampled(request, terminal));
    },
  };
}
