// Keys on the review page: j and k go from one to the next, a approves, r rejects, u takes back. The page works without.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const all = [...document.querySelectorAll("article.review")];
  const at = all.indexOf(document.activeElement.closest("article.review"));
  if (event.key === "j" || event.key === "k") {
    const next = all[Math.min(all.length - 1, Math.max(0, event.key === "j" ? at + 1 : at - 1))];
    if (next) { next.focus(); event.preventDefault(); }
  } else if (at >= 0) {
    const button = all[at].querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (button) { button.click(); event.preventDefault(); }
  }
});
