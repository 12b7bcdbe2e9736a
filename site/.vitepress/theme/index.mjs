// @ts-check
import DefaultTheme from "vitepress/theme";
import Diagram from "./Diagram.vue";
import Landing from "./Landing.vue";
import Layout from "./Layout.vue";
import "./colors.css";
import "./layout.css";
import "./content.css";

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app }) {
    app.component("Diagram", Diagram);
    app.component("landing", Landing);
  },
};
