/**
 * A language model of the AI SDK: any `LanguageModelV3` or `LanguageModelV4` of `@ai-sdk/provider`.
 *
 * The type is structural, so that a program needs no particular version of that package.
 */
export interface LanguageModel {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  // The real options and results are those of the two specifications. `stream-model.ts` makes and reads them.
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** The model of a host, or several: the first is used, unless the hints of a sampling request match another. */
export type ModelSetting = LanguageModel | readonly [LanguageModel, ...LanguageModel[]];
