import type { BuiltInProvider } from "./built-in-providers.ts";

/** An endpoint in the format of OpenAI's chat completions, with what its errors name. */
export interface Endpoint {
  /** The URL before `/chat/completions`. */
  readonly href: string;
  readonly origin: string;
  /** The model's name at the endpoint. */
  readonly model: string;
  /** The key. It is sent to the origin only. */
  readonly key: string | undefined;
  /** The variable with the key. */
  readonly keyEnv: string | undefined;
  /** Undefined for the endpoint of `--base-url`. */
  readonly provider: BuiltInProvider | undefined;
}
