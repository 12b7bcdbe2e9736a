import type { Awaitable } from "../values/awaitable.ts";
import type { ApprovalAnswer, ApprovalRequest } from "./approval.ts";
import type { ReviewAnswer, ReviewRequest } from "./review.ts";
import type { TrustAnswer, TrustRequest } from "./trust.ts";
import type { FormAnswer, FormRequest, UrlAnswer, UrlRequest } from "./elicitation.ts";
import type { SignInAnswer, SignInRequest } from "./sign-in.ts";
import type { SampleAnswer, SampledAnswer, SampledRequest, SampleRequest } from "./sampling.ts";

/**
 * Asks the user, on a terminal, a page or a window.
 *
 * Each method receives a request and a signal, which is aborted when the answer is no longer needed. Texts of servers in the
 * requests are not escaped: escape them for the medium that shows them, for example with `printable` of `mcparley`. The answer to
 * a missing method is no.
 */
export interface Renderer {
  /** Asks whether a server may be started or connected to. */
  trust?(this: void, request: TrustRequest, signal: AbortSignal): Awaitable<TrustAnswer>;
  /** Asks whether new or changed definitions of a server may be used. */
  review?(this: void, request: ReviewRequest, signal: AbortSignal): Awaitable<ReviewAnswer>;
  /** Asks whether a tool may be called with these arguments, which the user may edit. */
  approve?(this: void, request: ApprovalRequest, signal: AbortSignal): Awaitable<ApprovalAnswer>;
  /** Shows the form of a server, and returns the answer of the user. */
  form?(this: void, request: FormRequest, signal: AbortSignal): Awaitable<FormAnswer>;
  /** Shows the URL that a server asks the user to visit. */
  url?(this: void, request: UrlRequest, signal: AbortSignal): Awaitable<UrlAnswer>;
  /** Asks whether to sign in again for the scopes that a call needs. Without it, such a call fails with the names of the scopes. */
  signIn?(this: void, request: SignInRequest, signal: AbortSignal): Awaitable<SignInAnswer>;
  /** Asks whether the model may be run for a server, before it runs. */
  sample?(this: void, request: SampleRequest, signal: AbortSignal): Awaitable<SampleAnswer>;
  /** Asks whether the answer of the model may be sent to the server. */
  sampled?(this: void, request: SampledRequest, signal: AbortSignal): Awaitable<SampledAnswer>;
}
