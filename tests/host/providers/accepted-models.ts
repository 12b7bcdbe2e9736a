// Copied beside the installed packages by `npm run check -- host-providers`, which compiles it.
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { LanguageModel, ModelSetting } from "@mcparley/host";

declare const model: LanguageModelV4;
export const accepted: LanguageModel = model;
export const several: ModelSetting = [model, model];

declare const renamed: Omit<LanguageModelV4, "specificationVersion"> & { readonly specificationVersion: "v3" };
// @ts-expect-error A model of version 4 does not accept the files of version 3.
export const refused: LanguageModel = renamed;
