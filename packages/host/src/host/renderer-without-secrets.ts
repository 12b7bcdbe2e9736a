import type { FormContent, FormRequest } from "../renderer/elicitation.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { WithoutSecrets } from "../values/without-secrets.ts";

type Question = (request: object, signal: AbortSignal) => unknown;
type RequestFilter = (request: never, withoutSecrets: WithoutSecrets) => object;

const filtered = (request: object, withoutSecrets: WithoutSecrets): object => withoutSecrets(request);
/** The user must see what is started, and what is sent to a server. */
const complete = (request: object): object => request;

/** The request of each question, as it leaves the host. */
const requests: Readonly<Record<keyof Renderer, RequestFilter>> = {
  trust: complete,
  review: filtered,
  approve: complete,
  form: (request: FormRequest, withoutSecrets) => ({
    ...withoutSecrets(request),
    check: (content: FormContent) => withoutSecrets(request.check(content)),
  }),
  url: filtered,
  signIn: filtered,
  sample: filtered,
  sampled: filtered,
};

/** Returns a renderer whose requests have no secrets. It has the methods of the given one. */
export function rendererWithoutSecrets(renderer: Renderer, withoutSecrets: WithoutSecrets): Renderer {
  const methods = renderer as Record<string, Question | undefined>;
  const questions = Object.entries(requests).flatMap(([name, leave]) => {
    const question: Question = (request, signal) => methods[name]?.(leave(request as never, withoutSecrets), signal);
    return methods[name] ? [[name, question] as const] : [];
  });
  return Object.fromEntries(questions);
}
