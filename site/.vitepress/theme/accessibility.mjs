// @ts-check

/** Lets the keyboard scroll tables and blocks of code that are wider than the page, and no others. */
export function describeScrolling() {
  for (const element of document.querySelectorAll(".vp-doc .table, .vp-doc pre, .vp-doc .drawing")) {
    if (element.scrollWidth > element.clientWidth) {
      element.setAttribute("tabindex", "0");
      element.setAttribute("role", "region");
      element.setAttribute("aria-label", labelOf(element));
    } else for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name);
  }
}

/** A label that is unique on the page. @param {Element} element */
function labelOf(element) {
  const all = [...document.querySelectorAll(".vp-doc .table, .vp-doc pre, .vp-doc .drawing")];
  const kind = element.matches("pre") ? "Code" : element.matches(".table") ? "Table" : "Diagram";
  return `${kind} ${all.indexOf(element) + 1}`;
}
