/**
 * The filter of the HTML report, for browsers. Without it the page shows everything. The filter
 * stands in the address (`#result=fail&text=token`), so that a link leads to it; an address like
 * `#LEAK-01` leads to a rule as in any page.
 */
export const script = `
"use strict";
(() => {
  const form = document.querySelector("#filter");
  const rules = [...document.querySelectorAll(".rule")];
  const sections = [...document.querySelectorAll(".rules")];
  const passed = document.querySelector("#passed");
  const status = document.querySelector("#shown");
  const texts = new Map(rules.map((rule) => [rule, rule.textContent.toLowerCase()]));

  function apply() {
    const result = form.elements.result.value;
    const words = form.elements.text.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let shownCount = 0;
    for (const rule of rules) {
      const isShown =
        (result === "" || rule.dataset.result === result) && words.every((word) => texts.get(rule).includes(word));
      rule.hidden = !isShown;
      if (isShown) shownCount += 1;
    }
    for (const section of sections) section.hidden = section.querySelector(".rule:not([hidden])") === null;
    const isFiltered = result !== "" || words.length > 0;
    if (passed !== null) passed.open = isFiltered;
    status.textContent = isFiltered ? shownCount + " of " + rules.length + " rules shown" : "";
  }

  function readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    form.elements.text.value = wanted.get("text") ?? "";
    const choices = [...form.elements.result];
    const choice = choices.find((one) => one.value === wanted.get("result")) ?? choices[0];
    choice.checked = true;
    apply();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    apply();
    const wanted = new URLSearchParams();
    for (const name of ["result", "text"]) {
      const value = form.elements[name].value;
      if (value !== "") wanted.set(name, value);
    }
    history.replaceState(null, "", "#" + wanted);
  });
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    readAddress();
    form.scrollIntoView();
  });
  form.hidden = false;
  readAddress();
})();
`;
