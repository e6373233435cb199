"use strict";
// Times in the viewer's zone, and one part of the page that is asked for again every few seconds. The page says all of it without this.
(() => {
  const forms = {
    second: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
    minute: { hour: "2-digit", minute: "2-digit" },
    day: { day: "numeric", month: "short" },
  };
  const whole = { dateStyle: "medium", timeStyle: "short" };

  function local(root) {
    for (const each of root.querySelectorAll("time[datetime]")) {
      const at = new Date(each.dateTime);
      if (each.dateTime && !Number.isNaN(at.valueOf())) {
        each.textContent = at.toLocaleString(undefined, forms[each.dataset.kind] || whole);
      }
    }
  }

  function opened(root) {
    return [...root.querySelectorAll("details")].map((each) => each.open);
  }

  const live = document.getElementById("live");
  const box = document.getElementById("refresh");
  const said = document.getElementById("said");
  local(document);
  if (!live || !box || !live.dataset.refresh) return;
  document.querySelector(".refresh").hidden = false;
  let failures = 0;

  function busy() {
    return document.hidden || !box.checked || live.contains(document.activeElement) || String(window.getSelection()).length > 0;
  }

  async function look() {
    if (!busy()) {
      const address = new URL(window.location.href);
      address.searchParams.set("fragment", "1");
      try {
        const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
        if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
        const text = await answer.text();
        if (!busy()) {
          const open = opened(live);
          const scrolled = [...live.querySelectorAll(".wide")].map((each) => each.scrollLeft);
          live.innerHTML = text; // made and escaped by the server, as the page itself was
          live.querySelectorAll("details").forEach((each, k) => { each.open = Boolean(open[k]); });
          live.querySelectorAll(".wide").forEach((each, k) => { each.scrollLeft = scrolled[k] || 0; });
          local(live);
        }
        if (failures) said.textContent = "";
        failures = 0;
      } catch (error) {
        failures += 1;
        said.textContent = "The service does not answer; what you see is not new.";
      }
    }
    window.setTimeout(look, 1000 * Number(live.dataset.refresh) * Math.min(1 + failures, 12));
  }
  window.setTimeout(look, 1000 * Number(live.dataset.refresh));
})();
