/** What the page does beyond being read, in ASCII: filters, and folded parts that open where a link leads into them. */
export const SCRIPT = `
(() => {
  "use strict";
  const form = document.getElementById("filter");
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target.closest("[hidden]") && form) { form.reset(); apply(); }
    target.scrollIntoView();
  };
  const findings = [...document.querySelectorAll(".finding")];
  const files = [...document.querySelectorAll(".file")];
  let texts;
  const textOf = () => findings.map((f) => (f.textContent + " " + f.closest(".file").querySelector("h3").textContent).toLowerCase());
  const apply = () => {
    const wanted = new Set([...form.querySelectorAll("input:checked")].map((box) => box.value));
    const words = form.querySelector("#text").value.toLowerCase().split(/\\s+/).filter(Boolean);
    texts ??= textOf();
    let shown = 0;
    findings.forEach((f, i) => {
      f.hidden = !wanted.has(f.dataset.severity) || !words.every((w) => texts[i].includes(w));
      if (!f.hidden) shown++;
    });
    for (const file of files) file.hidden = !file.querySelector(".finding:not([hidden])");
    form.querySelector("output").textContent = shown === findings.length ? "" : shown + " of " + findings.length + " findings";
  };
  if (form) {
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
      event.preventDefault();
      form.scrollIntoView();
      form.querySelector("#text").focus();
    });
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
`;
