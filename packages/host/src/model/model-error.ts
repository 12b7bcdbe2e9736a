import { LocalError, redact } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import type { LanguageModel } from "./language-model.ts";
import { statusOf } from "./model-failure.ts";

/** Maximum number of characters of a provider's message. */
const maxMessage = 500;
/** Maximum number of characters that are read of a message. */
const maxRead = 16_384;
/** Characters at the end of a cut message that are not shown, because they can be the start of a secret that is not recognized. */
const maxCut = 1_024;

/**
 * Returns the error for a failed request to a model. It has only the status and the redacted message of the provider's error, because
 * that error also contains the request, its headers and the body of the response. A `LocalError` of the model is returned as it is:
 * its message is for the user, and has no secret.
 */
export function modelError(model: LanguageModel, thrown: unknown): Error {
  if (thrown instanceof LocalError) return thrown;
  const name = modelName(model);
  const status = statusOf(thrown);
  if (status === 401 || status === 403) {
    // Providers repeat the rejected key in the message.
    return new Error(
      `The model "${name}" rejected the credentials (HTTP status ${status}). Check the key of its provider.`,
    );
  }
  const message = messageOf(thrown);
  const start = withoutKeys(redact(message.slice(0, maxRead)), model);
  const reason = (message.length > maxRead ? start.slice(0, -maxCut) : start).slice(0, maxMessage);
  return new Error(`The model "${name}" failed${status === undefined ? "" : ` (HTTP status ${status})`}: ${reason}`);
}

/** Returns the name of a model for errors and requests: `provider/modelId`. */
export function modelName({ provider, modelId }: LanguageModel): string {
  return `${provider}/${modelId}`;
}

/** A long word. It looks like a key if it mixes letters and digits. */
const longWord = /[\w.~+/=-]{20}[\w.~+/=-]*/g;

/** Returns a message without words that look like keys. A provider may repeat the key, whatever the status is. */
function withoutKeys(message: string, { modelId }: LanguageModel): string {
  return message.replaceAll(longWord, (word) =>
    /[a-z]/i.test(word) && /\d/.test(word) && !word.includes(modelId) ? "[redacted]" : word,
  );
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  return isObject(thrown) && typeof thrown.message === "string" ? thrown.message : "unknown error";
}
