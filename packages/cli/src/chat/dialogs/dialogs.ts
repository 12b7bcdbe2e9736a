import type { ApprovalRequest, Renderer } from "@mcparley/host";
import type { RunDialog, Talk } from "../../terminal/questions/choose.ts";
import { Dismissed } from "../../terminal/questions/prompter.ts";
import { askApproval, isDestructive } from "./approve.ts";
import { askFields } from "./form.ts";
import { askReview } from "./review.ts";
import { askSample, askSampled } from "./sampling.ts";
import { askVisit } from "./url.ts";

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
  const { isComposed, isManual, openUrl } = setting;
  const denied = { action: "deny" } as const;
  const cancelled = { action: "cancel" } as const;
  return {
    review: (request, signal) =>
      answer(setting, signal, { refusal: { accepted: [] }, ask: (talk) => askReview(request, talk) }),
    approve: (request, signal) => {
      if (isComposed(request) && !isDestructive(request.tool)) return { action: "allow" };
      return answer(setting, signal, { refusal: denied, ask: (talk) => askApproval(request, talk) });
    },
    form: (request, signal) => answer(setting, signal, { refusal: cancelled, ask: (talk) => askFields(request, talk) }),
    url: (request, signal) =>
      answer(setting, signal, { refusal: cancelled, ask: (talk) => askVisit(request, openUrl, talk) }),
    // `chatSignIn` shows the scopes and asks before it opens the page.
    signIn: () => ({ action: "allow" }),
    sample: (request, signal) =>
      answer(setting, signal, { refusal: denied, ask: (talk) => askSample(request, isManual, talk) }),
    sampled: (request, signal) => {
      // The user has written the answer.
      if (isManual) return { action: "allow" };
      return answer(setting, signal, { refusal: denied, ask: (talk) => askSampled(request, talk) });
    },
  };
}

/** A question, and the answer if it is withdrawn. */
interface Dialog<T> {
  readonly refusal: T;
  readonly ask: (talk: Talk) => Promise<T>;
}

async function answer<T>(
  { talk, onError }: DialogSetting,
  signal: AbortSignal,
  { refusal, ask }: Dialog<T>,
): Promise<T> {
  try {
    const answered = await talk(signal, (prompter, view) => ask({ prompter, view }));
    // The server may have withdrawn the request while its answer was typed.
    return signal.aborted ? refusal : answered;
  } catch (error) {
    if (!(error instanceof Dismissed)) onError?.(error instanceof Error ? error : new Error(String(error)));
    return refusal;
  }
}
