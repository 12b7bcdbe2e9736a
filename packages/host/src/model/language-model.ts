import type { CallOptionsV3, CallOptionsV4 } from "./call-options.ts";

/**
 * A language model of the AI SDK: any `LanguageModelV3` or `LanguageModelV4` of `@ai-sdk/provider`.
 *
 * The type is structural, so that a program needs no particular version of that package.
 */
export type LanguageModel = ModelOf<"v3", CallOptionsV3> | ModelOf<"v4", CallOptionsV4>;

/** A model of one version of the specification, with the members that a host uses. */
interface ModelOf<Version extends string, Options> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  // A property and not a method: TypeScript then checks that the model accepts each option that a host sends. The parts of the
  // stream are `unknown`, because later versions of the packages add kinds of parts.
  readonly doStream: (options: Options) => PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

/** The model of a host, or several: the first is used, unless the hints of a sampling request match another. */
export type ModelSetting = LanguageModel | readonly [LanguageModel, ...LanguageModel[]];
