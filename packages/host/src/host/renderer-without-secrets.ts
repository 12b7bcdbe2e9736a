import type { FormContent, FormRequest } from "../renderer/elicitation.ts";
import type { Renderer } from "../renderer/renderer.ts";
import type { SampledRequest } from "../renderer/sampling.ts";
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
  sampled: (request: SampledRequest, withoutSecrets) => ({ ...withoutSecrets(request), result: request.result }),
};

/** Returns a renderer whose requests have no secrets. It has the methods that the given one has now. */
export function rendererWithoutSecrets(renderer: Renderer, withoutSecrets: WithoutSecrets): Renderer {
  const methods = renderer as Record<string, Question | undefined>;
  const shown: Renderer = {};
  for (const [name, leave] of Object.entries(requests)) {
    const question: Question = (request, signal) => methods[name]?.(leave(request as never, withoutSecrets), signal);
    // A program can set a method after the host is made.
    Object.defineProperty(shown, name, { get: () => methods[name] && question });
  }
  return shown;
}
