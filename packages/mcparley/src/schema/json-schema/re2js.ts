/** The part of re2js that matches patterns. `scripts/bundle.mjs` bundles it, because the package contains it four times. */
export { RE2JS } from "re2js";
